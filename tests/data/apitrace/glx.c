/*
 * glx MODE: calls of GLX and OpenGL for a tracer to record. Modes: lists (display lists, strings,
 * old vertex calls), textures (blobs of several sizes), threads (four contexts at once), killed
 * (dies within a call), forks (two children that make calls, while the recorder has not written
 * anything yet), forks-early and forks-late (children of a parent that has written a part of its
 * trace: they write before the parent goes on, or long after).
 */
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 32, THREADS = 4 };

static Display *display;
static GLXFBConfig config;

struct place {
	GLXPbuffer buffer;
	GLXContext context;
};

static struct place make(GLXContext share)
{
	static const int size[] = { GLX_PBUFFER_WIDTH, SIZE, GLX_PBUFFER_HEIGHT, SIZE, 0 };
	return (struct place){
		glXCreatePbuffer(display, config, size),
		glXCreateNewContext(display, config, GLX_RGBA_TYPE, share, True),
	};
}

static void use(struct place place)
{
	glXMakeContextCurrent(display, place.buffer, place.buffer, place.context);
}

static void unmake(struct place place)
{
	glXMakeContextCurrent(display, None, None, NULL);
	glXDestroyContext(display, place.context);
	glXDestroyPbuffer(display, place.buffer);
}

static void lists(struct place place)
{
	static const GLfloat light[] = { 0.1f, -1e-7f, 3.25f, 1e10f };
	const GLubyte names[] = "\001\002\003";

	GLuint list = glGenLists(3);
	for (GLuint i = 0; i < 3; i++) {
		glNewList(list + i, i == 1 ? GL_COMPILE_AND_EXECUTE : GL_COMPILE);
		glBegin(GL_TRIANGLE_STRIP);
		for (int n = 0; n < 6; n++) {
			glColor4ub(255, (GLubyte)n, 0, 128);
			glNormal3f(0.f, n / 3.f, -1.f);
			glVertex3d(n * 0.1, -n / 7.0, 1e-20 * n);
		}
		glEnd();
		glEndList();
	}
	glLightfv(GL_LIGHT0, GL_POSITION, light);
	glFrustum(-1.0, 1.0, -0.3333333333333333, 1 / 3.0, 5.0, 60.0);
	glListBase(list - 1);
	glCallLists(3, GL_UNSIGNED_BYTE, names);
	glPushClientAttrib(GL_CLIENT_ALL_ATTRIB_BITS);
	glPushAttrib(GL_ENABLE_BIT | GL_LIGHTING_BIT | 1u << 31);
	glEnable(0x12345);
	glGetError();
	glPopAttrib();
	glPopClientAttrib();
	glBitmap(8, 2, 0.f, 0.f, 8.f, 0.f, (const GLubyte *)"\252\125");
	glDeleteLists(list, 3);
	glXSwapBuffers(display, place.buffer);
}

static void shader(void)
{
	static const char *parts[] = { "#version 120\n\t// \"caf\303\251\" \\ \r\n",
				       "uniform vec4 a[2];\n",
				       "void main() { gl_FragColor = a[0] + a[1]; }\n",
				       "no part of it" };
	static const GLint lengths[] = { -1, 19, -1, 0 };
	GLint status = 0;
	char log[64];

	GLuint id = glCreateShader(GL_FRAGMENT_SHADER);
	glShaderSource(id, 4, parts, lengths);
	glCompileShader(id);
	glGetShaderiv(id, GL_COMPILE_STATUS, &status);
	glGetShaderInfoLog(id, sizeof log, NULL, log);
	GLuint program = glCreateProgram();
	glAttachShader(program, id);
	glLinkProgram(program);
	glUseProgram(program);
	static const GLfloat values[] = {
		1.f, 2.f, 3.f, 4.f, 0.333333343f, -0.f, 1e-30f, 16777216.f
	};
	glUniform4fv(glGetUniformLocation(program, "a"), 2, values);
	glDeleteProgram(program);
	glDeleteShader(id);
}

static void textures(struct place place)
{
	static GLubyte image[SIZE * SIZE * 4];
	GLuint ids[2], buffer;

	for (size_t i = 0; i < sizeof image; i++)
		image[i] = (GLubyte)(i * i >> 4);
	glGenTextures(2, ids);
	for (GLsizei i = 0; i < 2; i++) {
		glBindTexture(GL_TEXTURE_2D, ids[i]);
		glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_NEAREST);
		glPixelStorei(GL_UNPACK_ALIGNMENT, 1 + 3 * i);
		glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE,
			     image);
		glTexSubImage2D(GL_TEXTURE_2D, 0, 1, 1, 3, 2, GL_RGB, GL_UNSIGNED_BYTE, image);
	}
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof image, NULL, GL_DYNAMIC_DRAW);
	glBufferSubData(GL_ARRAY_BUFFER, 5, 7, image);
	GLubyte *mapped = glMapBufferRange(GL_ARRAY_BUFFER, 0, 64,
					   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT);
	if (mapped)
		memcpy(mapped, image, 64);
	glUnmapBuffer(GL_ARRAY_BUFFER);
	shader();
	glClearColor(0.25f, 0.5f, 0.75f, 1.f);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glReadPixels(0, 0, 2, 2, GL_RGBA, GL_UNSIGNED_BYTE, image);
	glDeleteBuffers(1, &buffer);
	glDeleteTextures(2, ids);
	glXSwapBuffers(display, place.buffer);
}

static void *work(void *argument)
{
	struct place *place = argument;

	use(*place);
	for (int i = 0; i < 100; i++) {
		glClear(GL_COLOR_BUFFER_BIT);
		glRectf(0.f, 0.f, i / 100.f, 1.f);
		glFinish();
	}
	glXSwapBuffers(display, place->buffer);
	glXMakeContextCurrent(display, None, None, NULL);
	return NULL;
}

static void threads(struct place first)
{
	pthread_t ids[THREADS];
	struct place places[THREADS];

	for (int i = 0; i < THREADS; i++)
		places[i] = make(first.context);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, work, &places[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < THREADS; i++)
		unmake(places[i]);
}

/* The driver writes to where nothing is: the tracer has entered that call and never leaves it. */
static void killed(void)
{
	glClear(GL_COLOR_BUFFER_BIT);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, (void *)(size_t)8);
}

static void forks(void)
{
	for (int i = 0; i < 2; i++) {
		glClear(i ? GL_DEPTH_BUFFER_BIT : GL_COLOR_BUFFER_BIT);
		pid_t child = fork();
		if (child == 0) {
			glFinish();
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	glRectf(0.f, 0.f, 1.f, 1.f);
}

/* A call that takes so many bytes in the trace. */
static void upload(GLsizei size)
{
	static const char zeros[1 << 20];

	glBufferData(GL_ARRAY_BUFFER, size, zeros, GL_STATIC_DRAW);
}

static void forks_behind(int late)
{
	GLuint buffer;
	int gate[2];

	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	for (int i = 0; i < 3; i++)
		upload(500000);
	for (int i = 0; i < 2; i++) {
		char byte;
		if (pipe(gate) != 0)
			return;
		pid_t child = fork();
		if (child == 0) {
			close(gate[1]);
			if (late && read(gate[0], &byte, 1) < 0) /* waits until it is closed */
				_exit(1);
			glFinish();
			_exit(0);
		}
		close(gate[0]);
		for (int n = 0; late && n < 3; n++)
			upload(700000);
		close(gate[1]);
		waitpid(child, NULL, 0);
		glClear(GL_DEPTH_BUFFER_BIT);
	}
	for (int i = 0; i < 3; i++)
		upload(800000);
}

int main(int argc, char **argv)
{
	static const int wanted[] = { GLX_DRAWABLE_TYPE, GLX_PBUFFER_BIT, GLX_DOUBLEBUFFER, True,
				      0 };
	const char *mode = argc > 1 ? argv[1] : "";
	int count = 0;

	XInitThreads();
	display = XOpenDisplay(NULL);
	GLXFBConfig *configs =
		display ? glXChooseFBConfig(display, DefaultScreen(display), wanted, &count) : NULL;
	if (!count) {
		fprintf(stderr, "no display, or none that can\n");
		return 2;
	}
	config = configs[0];
	XFree(configs);
	struct place place = make(NULL);
	use(place);
	if (strcmp(mode, "lists") == 0)
		lists(place);
	else if (strcmp(mode, "textures") == 0)
		textures(place);
	else if (strcmp(mode, "threads") == 0)
		threads(place);
	else if (strcmp(mode, "killed") == 0)
		killed();
	else if (strcmp(mode, "forks") == 0)
		forks();
	else if (strncmp(mode, "forks-", 6) == 0)
		forks_behind(strcmp(mode, "forks-late") == 0);
	unmake(place);
	XCloseDisplay(display);
	return 0;
}
