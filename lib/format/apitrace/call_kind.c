/* SPDX-License-Identifier: MIT */
/*
 * The kinds of an API call, by the name of its function. A trace does not contain them: the tools
 * of apitrace have a table of names and patterns (lib/trace/trace_parser_flags.cpp). This one has
 * the names of apitrace 11.1, so that call sets and text agree with apitrace's.
 *
 * A name is searched in the table first. If it is not there, the pattern functions take words off
 * its front; they do what the regular expressions of apitrace do, without a library for these,
 * because a trace has millions of calls.
 */

#include <stdlib.h>

#include "format/apitrace/apitrace.h"
#include "record/calls.h"

enum {
	END_FRAME = TR_CALL_END_FRAME,
	RENDER = TR_CALL_RENDER,
	RENDER_TARGET = TR_CALL_RENDER_TARGET,
	VERBOSE = TR_CALL_VERBOSE,
	SWAP = END_FRAME | RENDER_TARGET,
};

struct entry {
	const char *name;
	unsigned kinds;
};

/*
 * A row is a name and its kinds; sorted by bytes, for bsearch. SWAP ends a frame and leaves its
 * render target.
 */
static const struct entry entries[] = {
	{ "CGLFlushDrawable", END_FRAME },
	{ "CGLGetCurrentContext", VERBOSE },
	{ "ID3D11VideoProcessorEnumerator::CheckVideoProcessorFormat", VERBOSE },
	{ "IDirect3D8::CheckDeviceFormat", VERBOSE },
	{ "IDirect3D8::EnumAdapterModes", VERBOSE },
	{ "IDirect3D8::GetAdapterModeCount", VERBOSE },
	{ "IDirect3D8::GetDeviceCaps", VERBOSE },
	{ "IDirect3D9::CheckDeviceFormat", VERBOSE },
	{ "IDirect3D9::EnumAdapterModes", VERBOSE },
	{ "IDirect3D9::GetAdapterModeCount", VERBOSE },
	{ "IDirect3D9::GetDeviceCaps", VERBOSE },
	{ "IDirect3D9Ex::CheckDeviceFormat", VERBOSE },
	{ "IDirect3D9Ex::EnumAdapterModes", VERBOSE },
	{ "IDirect3D9Ex::GetAdapterModeCount", VERBOSE },
	{ "IDirect3D9Ex::GetDeviceCaps", VERBOSE },
	{ "IDirect3DDevice2::DrawIndexedPrimitive", RENDER },
	{ "IDirect3DDevice2::DrawPrimitive", RENDER },
	{ "IDirect3DDevice3::DrawIndexedPrimitive", RENDER },
	{ "IDirect3DDevice3::DrawIndexedPrimitiveStrided", RENDER },
	{ "IDirect3DDevice3::DrawIndexedPrimitiveVB", RENDER },
	{ "IDirect3DDevice3::DrawPrimitive", RENDER },
	{ "IDirect3DDevice3::DrawPrimitiveStrided", RENDER },
	{ "IDirect3DDevice3::DrawPrimitiveVB", RENDER },
	{ "IDirect3DDevice7::Clear", RENDER },
	{ "IDirect3DDevice7::DrawIndexedPrimitive", RENDER },
	{ "IDirect3DDevice7::DrawIndexedPrimitiveStrided", RENDER },
	{ "IDirect3DDevice7::DrawIndexedPrimitiveVB", RENDER },
	{ "IDirect3DDevice7::DrawPrimitive", RENDER },
	{ "IDirect3DDevice7::DrawPrimitiveStrided", RENDER },
	{ "IDirect3DDevice7::DrawPrimitiveVB", RENDER },
	{ "IDirect3DDevice8::Clear", RENDER },
	{ "IDirect3DDevice8::DrawIndexedPrimitive", RENDER },
	{ "IDirect3DDevice8::DrawIndexedPrimitiveUP", RENDER },
	{ "IDirect3DDevice8::DrawPrimitive", RENDER },
	{ "IDirect3DDevice8::DrawPrimitiveUP", RENDER },
	{ "IDirect3DDevice8::DrawRectPatch", RENDER },
	{ "IDirect3DDevice8::DrawTriPatch", RENDER },
	{ "IDirect3DDevice8::GetDeviceCaps", VERBOSE },
	{ "IDirect3DDevice8::Present", SWAP },
	{ "IDirect3DDevice8::SetRenderTarget", RENDER_TARGET },
	{ "IDirect3DDevice9::Clear", RENDER },
	{ "IDirect3DDevice9::DrawIndexedPrimitive", RENDER },
	{ "IDirect3DDevice9::DrawIndexedPrimitiveUP", RENDER },
	{ "IDirect3DDevice9::DrawPrimitive", RENDER },
	{ "IDirect3DDevice9::DrawPrimitiveUP", RENDER },
	{ "IDirect3DDevice9::DrawRectPatch", RENDER },
	{ "IDirect3DDevice9::DrawTriPatch", RENDER },
	{ "IDirect3DDevice9::GetDeviceCaps", VERBOSE },
	{ "IDirect3DDevice9::GetRenderTargetData", END_FRAME },
	{ "IDirect3DDevice9::Present", SWAP },
	{ "IDirect3DDevice9::SetRenderTarget", RENDER_TARGET },
	{ "IDirect3DDevice9Ex::Clear", RENDER },
	{ "IDirect3DDevice9Ex::DrawIndexedPrimitive", RENDER },
	{ "IDirect3DDevice9Ex::DrawIndexedPrimitiveUP", RENDER },
	{ "IDirect3DDevice9Ex::DrawPrimitive", RENDER },
	{ "IDirect3DDevice9Ex::DrawPrimitiveUP", RENDER },
	{ "IDirect3DDevice9Ex::DrawRectPatch", RENDER },
	{ "IDirect3DDevice9Ex::DrawTriPatch", RENDER },
	{ "IDirect3DDevice9Ex::GetDeviceCaps", VERBOSE },
	{ "IDirect3DDevice9Ex::GetRenderTargetData", END_FRAME },
	{ "IDirect3DDevice9Ex::Present", SWAP },
	{ "IDirect3DDevice9Ex::PresentEx", SWAP },
	{ "IDirect3DDevice9Ex::SetRenderTarget", RENDER_TARGET },
	{ "IDirect3DSwapChain9::Present", SWAP },
	{ "IDirect3DSwapChain9Ex::Present", SWAP },
	{ "IDirect3DViewport2::Clear", RENDER },
	{ "IDirect3DViewport3::Clear", RENDER },
	{ "IDirect3DViewport3::Clear2", RENDER },
	{ "IDirect3DViewport::Clear", RENDER },
	{ "eglGetConfigAttrib", VERBOSE },
	{ "eglGetProcAddress", VERBOSE },
	{ "eglQueryString", VERBOSE },
	{ "eglSwapBuffers", SWAP },
	{ "eglSwapBuffersWithDamageEXT", SWAP },
	{ "eglSwapBuffersWithDamageKHR", SWAP },
	{ "glFrameTerminatorGREMEDY", END_FRAME },
	{ "glGetString", VERBOSE },
	{ "glGetStringi", VERBOSE },
	{ "glIsAsyncMarkerSGIX", VERBOSE },
	{ "glIsBuffer", VERBOSE },
	{ "glIsBufferARB", VERBOSE },
	{ "glIsBufferResidentNV", VERBOSE },
	{ "glIsEnabled", VERBOSE },
	{ "glIsEnabledIndexedEXT", VERBOSE },
	{ "glIsEnabledi", VERBOSE },
	{ "glIsFenceAPPLE", VERBOSE },
	{ "glIsFenceNV", VERBOSE },
	{ "glIsFramebuffer", VERBOSE },
	{ "glIsFramebufferEXT", VERBOSE },
	{ "glIsList", VERBOSE },
	{ "glIsNameAMD", VERBOSE },
	{ "glIsNamedBufferResidentNV", VERBOSE },
	{ "glIsNamedStringARB", VERBOSE },
	{ "glIsObjectBufferATI", VERBOSE },
	{ "glIsOcclusionQueryNV", VERBOSE },
	{ "glIsProgram", VERBOSE },
	{ "glIsProgramARB", VERBOSE },
	{ "glIsProgramNV", VERBOSE },
	{ "glIsProgramPipeline", VERBOSE },
	{ "glIsQuery", VERBOSE },
	{ "glIsQueryARB", VERBOSE },
	{ "glIsRenderbuffer", VERBOSE },
	{ "glIsRenderbufferEXT", VERBOSE },
	{ "glIsSampler", VERBOSE },
	{ "glIsShader", VERBOSE },
	{ "glIsSync", VERBOSE },
	{ "glIsTexture", VERBOSE },
	{ "glIsTextureEXT", VERBOSE },
	{ "glIsTransformFeedback", VERBOSE },
	{ "glIsTransformFeedbackNV", VERBOSE },
	{ "glIsVariantEnabledEXT", VERBOSE },
	{ "glIsVertexArray", VERBOSE },
	{ "glIsVertexArrayAPPLE", VERBOSE },
	{ "glIsVertexAttribEnabledAPPLE", VERBOSE },
	{ "glXGetClientString", VERBOSE },
	{ "glXGetConfig", VERBOSE },
	{ "glXGetCurrentContext", VERBOSE },
	{ "glXGetCurrentDisplay", VERBOSE },
	{ "glXGetCurrentDisplayEXT", VERBOSE },
	{ "glXGetCurrentDrawable", VERBOSE },
	{ "glXGetCurrentReadDrawable", VERBOSE },
	{ "glXGetCurrentReadDrawableSGI", VERBOSE },
	{ "glXGetFBConfigAttrib", VERBOSE },
	{ "glXGetFBConfigAttribSGIX", VERBOSE },
	{ "glXGetProcAddress", VERBOSE },
	{ "glXGetProcAddressARB", VERBOSE },
	{ "glXIsDirect", VERBOSE },
	{ "glXQueryExtension", VERBOSE },
	{ "glXQueryExtensionsString", VERBOSE },
	{ "glXQueryVersion", VERBOSE },
	{ "glXSwapBuffers", SWAP },
	{ "glXSwapBuffersMscOML", SWAP },
	{ "wglDescribePixelFormat", VERBOSE },
	{ "wglGetCurrentContext", VERBOSE },
	{ "wglGetCurrentDC", VERBOSE },
	{ "wglGetDefaultProcAddress", VERBOSE },
	{ "wglGetExtensionsStringARB", VERBOSE },
	{ "wglGetExtensionsStringEXT", VERBOSE },
	{ "wglGetPixelFormat", VERBOSE },
	{ "wglGetPixelFormatAttribivARB", VERBOSE },
	{ "wglGetPixelFormatAttribivEXT", VERBOSE },
	{ "wglGetProcAddress", VERBOSE },
	{ "wglSwapBuffers", SWAP },
	{ "wglSwapLayerBuffers", SWAP },
	{ "wglSwapMultipleBuffers", SWAP },
};

static int compare(const void *key, const void *element)
{
	const struct entry *entry = element;

	return tr_text_compare(*(const struct tr_text *)key, tr_text_from(entry->name));
}

/* Patterns: a name is eaten from its front. */

#define EAT(name, literal) tr_text_skip((name), TR_TEXT(literal))

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Whether the rest is a vendor's suffix (ARB, SGIX, KHR), or empty. */
static bool is_suffix(struct tr_text rest)
{
	for (size_t i = 0; i < rest.len; i++) {
		if (!is_upper(rest.data[i]) && !tr_is_digit(rest.data[i]))
			return false;
	}
	return true;
}

/* Whether the rest is words that begin with a capital, without digits; or empty. */
static bool is_words(struct tr_text rest)
{
	for (size_t i = 0; i < rest.len; i++) {
		if (!is_upper(rest.data[i]) && (i == 0 || !is_lower(rest.data[i])))
			return false;
	}
	return true;
}

/* Whether the rest has only the characters that \w matches. */
static bool is_identifier(struct tr_text rest)
{
	for (size_t i = 0; i < rest.len; i++) {
		char c = rest.data[i];
		if (!is_upper(c) && !is_lower(c) && !tr_is_digit(c) && c != '_')
			return false;
	}
	return true;
}

/* Takes digits off the front. False: there are none. */
static bool eat_digits(struct tr_text *name)
{
	size_t len = name->len;

	while (name->len && tr_is_digit(*name->data))
		*name = (struct tr_text){ name->data + 1, name->len - 1 };
	return name->len < len;
}

/* Takes one word off the front: a capital and small letters. */
static bool eat_word(struct tr_text *name)
{
	size_t len = 1;

	if (name->len < 2 || !is_upper(name->data[0]) || !is_lower(name->data[1]))
		return false;
	while (len < name->len && is_lower(name->data[len]))
		len++;
	*name = (struct tr_text){ name->data + len, name->len - len };
	return true;
}

/*
 * Matches words, Draw[Range|Mesh](Arrays|Elements), words: glMultiDrawElementsIndirect after its
 * gl. The words before "Draw" are tried one after the other, as a regular expression does.
 */
static bool draws_arrays(struct tr_text rest)
{
	do {
		struct tr_text tail = rest;
		if (!EAT(&tail, "Draw"))
			continue;
		if (!EAT(&tail, "Range"))
			EAT(&tail, "Mesh");
		if ((EAT(&tail, "Arrays") || EAT(&tail, "Elements")) && is_words(tail))
			return true;
	} while (eat_word(&rest));
	return false;
}

/* Matches glRectf, glRectdv and the like, after gl. */
static bool is_rectangle(struct tr_text rest)
{
	if (!EAT(&rest, "Rect") || !rest.len || !memchr("dfis", *rest.data, 4))
		return false;
	rest = (struct tr_text){ rest.data + 1, rest.len - 1 };
	EAT(&rest, "v");
	return is_suffix(rest);
}

/* Whether the rest is words, then a vendor's suffix that may have digits. */
static bool is_words_and_suffix(struct tr_text rest)
{
	size_t words = 0;

	while (words < rest.len &&
	       (is_upper(rest.data[words]) || (words > 0 && is_lower(rest.data[words]))))
		words++;
	return is_suffix((struct tr_text){ rest.data + words, rest.len - words });
}

/* Matches the other functions of OpenGL that draw or clear. */
static bool draws_otherwise(struct tr_text rest)
{
	static const char *const names[] = { "BlitFramebuffer", "CallList",   "CallLists",
					     "Clear",		"DrawPixels", "End" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct tr_text tail = rest;
		if (tr_text_skip(&tail, tr_text_from(names[i])) && is_suffix(tail))
			return true;
	}
	if (EAT(&rest, "DrawTransformFeedback"))
		return is_words_and_suffix(rest);
	if (EAT(&rest, "EvalMesh"))
		return eat_digits(&rest) && is_suffix(rest);
	return is_rectangle(rest);
}

/*
 * Returns the kinds of a function of OpenGL; rest is its name after "gl". Most names are of none,
 * and occur a million times, so they are dismissed by a byte first.
 */
static unsigned opengl(struct tr_text rest)
{
	/* most names are none of these, and are seen a million times */
	if (memmem(rest.data, rest.len, "Draw", 4) && draws_arrays(rest))
		return RENDER;
	if (!rest.len || !memchr("BCDER", *rest.data, 5))
		return 0;
	if (draws_otherwise(rest))
		return RENDER;
	if (EAT(&rest, "BindFramebuffer") && is_suffix(rest))
		return RENDER_TARGET;
	return 0;
}

/* rest: the name after "IDXGI"; [Decode]SwapChain…::Present… */
static unsigned dxgi(struct tr_text rest)
{
	EAT(&rest, "Decode");
	const char *colon = rest.len ? memchr(rest.data, ':', rest.len) : NULL;
	if (!colon || !EAT(&rest, "SwapChain") || !is_identifier(tr_text_span(rest.data, colon)))
		return 0;
	rest = tr_text_span(colon, rest.data + rest.len);
	return EAT(&rest, "::Present") && is_identifier(rest) ? END_FRAME : 0;
}

/* rest: the name after "ID3D1"; a device of Direct3D 10, or a device or context of Direct3D 11. */
static unsigned direct3d(struct tr_text rest)
{
	bool ten = EAT(&rest, "0Device"), context = !ten && EAT(&rest, "1DeviceContext");

	if (!ten && !context && !EAT(&rest, "1Device"))
		return 0;
	eat_digits(&rest);
	if (!EAT(&rest, "::"))
		return 0;
	if (!context && (tr_text_is(rest, "CheckFormatSupport") ||
			 tr_text_is(rest, "CheckMultisampleQualityLevels")))
		return VERBOSE;
	if (!ten && !context)
		return 0;
	if (tr_text_is(rest, "ExecuteCommandList") || (EAT(&rest, "Draw") && is_identifier(rest)))
		return RENDER;
	return EAT(&rest, "OMSetRenderTargets") && is_identifier(rest) ? RENDER_TARGET : 0;
}

unsigned tr_apitrace_call_kinds(struct tr_text name)
{
	struct tr_text rest = name;
	bool gl = EAT(&rest, "gl");
	unsigned kinds = gl		       ? opengl(rest)
			 : EAT(&rest, "IDXGI") ? dxgi(rest)
			 : EAT(&rest, "ID3D1") ? direct3d(rest)
					       : 0;
	/* those of the table that begin with gl go on with one of these */
	bool listed = rest.len && (!gl || memchr("FGIX", *rest.data, 4));
	if (kinds || !listed)
		return kinds;
	const struct entry *entry =
		bsearch(&name, entries, sizeof entries / sizeof *entries, sizeof *entries, compare);
	return entry ? entry->kinds : 0;
}

/* Calls that apitrace shows as having no side effects: queries, and labels. */

/* Sorted by bytes. */
/* clang-format off */
static const char *const plain_names[] = {
	"eglSetDamageRegionKHR", "glAreProgramsResidentNV", "glAreTexturesResident",
	"glAreTexturesResidentEXT", "glBufferRegionEnabled", "glDebugMessageControl",
	"glDebugMessageControlARB", "glDebugMessageEnableAMD", "glDebugMessageInsert",
	"glDebugMessageInsertAMD", "glDebugMessageInsertARB", "glDebugMessageInsertKHR",
	"glGetActiveAtomicCounterBufferiv", "glGetActiveAttrib", "glGetActiveAttribARB",
	"glGetActiveSubroutineName", "glGetActiveSubroutineUniformName",
	"glGetActiveSubroutineUniformiv", "glGetActiveUniform", "glGetActiveUniformARB",
	"glGetActiveUniformBlockName", "glGetActiveUniformBlockiv", "glGetActiveUniformName",
	"glGetActiveUniformsiv", "glGetActiveVaryingNV", "glGetArrayObjectfvATI",
	"glGetArrayObjectivATI", "glGetAttachedObjectsARB", "glGetAttachedShaders",
	"glGetBooleanIndexedvEXT", "glGetBooleani_v", "glGetBooleanv", "glGetBufferParameteri64v",
	"glGetBufferParameteriv", "glGetBufferParameterivARB", "glGetBufferParameterui64vNV",
	"glGetBufferPointerv", "glGetBufferPointervARB", "glGetBufferSubData",
	"glGetBufferSubDataARB", "glGetClipPlane", "glGetColorTable", "glGetColorTableEXT",
	"glGetColorTableParameterfv", "glGetColorTableParameterfvEXT",
	"glGetColorTableParameterfvSGI", "glGetColorTableParameteriv",
	"glGetColorTableParameterivEXT", "glGetColorTableParameterivSGI", "glGetColorTableSGI",
	"glGetCombinerInputParameterfvNV", "glGetCombinerInputParameterivNV",
	"glGetCombinerOutputParameterfvNV", "glGetCombinerOutputParameterivNV",
	"glGetCombinerStageParameterfvNV", "glGetConvolutionFilterEXT",
	"glGetConvolutionParameterfv", "glGetConvolutionParameterfvEXT",
	"glGetConvolutionParameteriv", "glGetConvolutionParameterivEXT", "glGetDetailTexFuncSGIS",
	"glGetDoubleIndexedvEXT", "glGetDoublei_v", "glGetDoublev", "glGetError", "glGetFenceivNV",
	"glGetFinalCombinerInputParameterfvNV", "glGetFinalCombinerInputParameterivNV",
	"glGetFogFuncSGIS", "glGetFragDataIndex", "glGetFragmentLightfvSGIX",
	"glGetFragmentLightivSGIX", "glGetFragmentMaterialfvSGIX", "glGetFragmentMaterialivSGIX",
	"glGetFramebufferAttachmentParameteriv", "glGetFramebufferAttachmentParameterivEXT",
	"glGetFramebufferParameteriv", "glGetFramebufferParameterivEXT",
	"glGetGraphicsResetStatusARB", "glGetHandleARB", "glGetHistogramEXT",
	"glGetHistogramParameterfv", "glGetHistogramParameterfvEXT", "glGetHistogramParameteriv",
	"glGetHistogramParameterivEXT", "glGetImageTransformParameterfvHP",
	"glGetImageTransformParameterivHP", "glGetInfoLogARB", "glGetInstrumentsSGIX",
	"glGetInternalformati64v", "glGetInternalformativ", "glGetInvariantBooleanvEXT",
	"glGetInvariantFloatvEXT", "glGetInvariantIntegervEXT", "glGetLightfv", "glGetLightiv",
	"glGetListParameterfvSGIX", "glGetListParameterivSGIX", "glGetLocalConstantBooleanvEXT",
	"glGetLocalConstantFloatvEXT", "glGetLocalConstantIntegervEXT",
	"glGetMapAttribParameterfvNV", "glGetMapAttribParameterivNV", "glGetMapControlPointsNV",
	"glGetMapParameterfvNV", "glGetMapParameterivNV", "glGetMapdv", "glGetMapfv", "glGetMapiv",
	"glGetMaterialfv", "glGetMaterialiv", "glGetMinmaxEXT", "glGetMinmaxParameterfv",
	"glGetMinmaxParameterfvEXT", "glGetMinmaxParameteriv", "glGetMinmaxParameterivEXT",
	"glGetMultiTexEnvfvEXT", "glGetMultiTexEnvivEXT", "glGetMultiTexGendvEXT",
	"glGetMultiTexGenfvEXT", "glGetMultiTexGenivEXT", "glGetMultiTexLevelParameterfvEXT",
	"glGetMultiTexLevelParameterivEXT", "glGetMultiTexParameterIivEXT",
	"glGetMultiTexParameterIuivEXT", "glGetMultiTexParameterfvEXT",
	"glGetMultiTexParameterivEXT", "glGetMultisamplefv", "glGetMultisamplefvNV",
	"glGetNamedBufferParameterivEXT", "glGetNamedBufferParameterui64vNV",
	"glGetNamedBufferPointervEXT", "glGetNamedBufferSubDataEXT",
	"glGetNamedFramebufferAttachmentParameterivEXT", "glGetNamedFramebufferParameterivEXT",
	"glGetNamedProgramLocalParameterIivEXT", "glGetNamedProgramLocalParameterIuivEXT",
	"glGetNamedProgramLocalParameterdvEXT", "glGetNamedProgramLocalParameterfvEXT",
	"glGetNamedProgramStringEXT", "glGetNamedProgramivEXT",
	"glGetNamedRenderbufferParameterivEXT", "glGetNamedStringARB", "glGetNamedStringivARB",
	"glGetObjectBufferfvATI", "glGetObjectBufferivATI", "glGetObjectLabel",
	"glGetObjectParameterfvARB", "glGetObjectParameterivAPPLE", "glGetObjectParameterivARB",
	"glGetObjectPtrLabel", "glGetOcclusionQueryivNV", "glGetOcclusionQueryuivNV",
	"glGetPerfMonitorCounterDataAMD", "glGetPerfMonitorCounterInfoAMD",
	"glGetPerfMonitorCounterStringAMD", "glGetPerfMonitorCountersAMD",
	"glGetPerfMonitorGroupStringAMD", "glGetPerfMonitorGroupsAMD",
	"glGetPixelTexGenParameterfvSGIS", "glGetPixelTexGenParameterivSGIS",
	"glGetPointerIndexedvEXT", "glGetPointerv", "glGetPointervEXT", "glGetProgramBinary",
	"glGetProgramEnvParameterIivNV", "glGetProgramEnvParameterIuivNV",
	"glGetProgramEnvParameterdvARB", "glGetProgramEnvParameterfvARB", "glGetProgramInfoLog",
	"glGetProgramInterfaceiv", "glGetProgramLocalParameterIivNV",
	"glGetProgramLocalParameterIuivNV", "glGetProgramLocalParameterdvARB",
	"glGetProgramLocalParameterfvARB", "glGetProgramNamedParameterdvNV",
	"glGetProgramNamedParameterfvNV", "glGetProgramParameterdvNV", "glGetProgramParameterfvNV",
	"glGetProgramPipelineInfoLog", "glGetProgramPipelineiv", "glGetProgramResourceIndex",
	"glGetProgramResourceLocation", "glGetProgramResourceLocationIndex",
	"glGetProgramResourceName", "glGetProgramResourceiv", "glGetProgramStageiv",
	"glGetProgramStringARB", "glGetProgramStringNV", "glGetProgramSubroutineParameteruivNV",
	"glGetProgramiv", "glGetProgramivARB", "glGetProgramivNV", "glGetQueryIndexediv",
	"glGetQueryiv", "glGetQueryivARB", "glGetRenderbufferParameteriv",
	"glGetRenderbufferParameterivEXT", "glGetSamplerParameterIiv", "glGetSamplerParameterIuiv",
	"glGetSamplerParameterfv", "glGetSamplerParameteriv", "glGetSeparableFilterEXT",
	"glGetShaderInfoLog", "glGetShaderPrecisionFormat", "glGetShaderSource",
	"glGetShaderSourceARB", "glGetShaderiv", "glGetSharpenTexFuncSGIS", "glGetSynciv",
	"glGetTexBumpParameterfvATI", "glGetTexBumpParameterivATI", "glGetTexEnvfv",
	"glGetTexEnviv", "glGetTexFilterFuncSGIS", "glGetTexGendv", "glGetTexGenfv",
	"glGetTexGeniv", "glGetTrackMatrixivNV", "glGetTransformFeedbackVarying",
	"glGetTransformFeedbackVaryingEXT", "glGetTransformFeedbackVaryingNV",
	"glGetUniformIndices", "glGetUniformSubroutineuiv", "glGetUniformdv", "glGetUniformfv",
	"glGetUniformfvARB", "glGetUniformi64vNV", "glGetUniformiv", "glGetUniformivARB",
	"glGetUniformui64vNV", "glGetUniformuiv", "glGetUniformuivEXT",
	"glGetVariantArrayObjectfvATI", "glGetVariantArrayObjectivATI", "glGetVariantBooleanvEXT",
	"glGetVariantFloatvEXT", "glGetVariantIntegervEXT", "glGetVariantPointervEXT",
	"glGetVertexArrayIntegeri_vEXT", "glGetVertexArrayIntegervEXT",
	"glGetVertexArrayPointeri_vEXT", "glGetVertexArrayPointervEXT",
	"glGetVideoCaptureStreamdvNV", "glGetVideoCaptureStreamfvNV", "glGetVideoCaptureStreamivNV",
	"glGetVideoCaptureivNV", "glGetVideoi64vNV", "glGetVideoivNV", "glGetVideoui64vNV",
	"glGetVideouivNV", "glGetnMapdvARB", "glGetnMapfvARB", "glGetnMapivARB",
	"glGetnUniformdvARB", "glGetnUniformfvARB", "glGetnUniformivARB", "glGetnUniformuivARB",
	"glInsertEventMarkerEXT", "glObjectLabel", "glObjectLabelKHR", "glObjectPtrLabel",
	"glObjectPtrLabelKHR",
};
/* clang-format on */

/* These are verbose, but apitrace does not know whether they have side effects. */
static const char *const unplain_names[] = {
	"eglGetConfigAttrib",		"glXGetFBConfigAttrib",		"glXGetFBConfigAttribSGIX",
	"wglGetPixelFormatAttribivARB", "wglGetPixelFormatAttribivEXT",
};

bool tr_apitrace_call_is_plain(struct tr_text name)
{
	static const char *const families[] = {
		"glGetFloat",
		"glGetInteger",
		"glGetVertexAttrib",
		"glGetTexParameter",
		"glGetTexLevelParameter",
		"glGetTextureParameter",
		"glGetTextureLevelParameter",
	};

	if (!name.len)
		return false;
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		struct tr_text rest = name;
		if (tr_text_skip(&rest, tr_text_from(families[i])) && rest.len &&
		    is_identifier(rest))
			return true;
	}
	if (tr_apitrace_call_kinds(name) & TR_CALL_VERBOSE)
		return !tr_text_is_among_sorted(name, unplain_names,
						sizeof unplain_names / sizeof *unplain_names);
	return tr_text_is_among_sorted(name, plain_names, sizeof plain_names / sizeof *plain_names);
}

/* The API of a function in the words of `apitrace info`. */
const char *tr_apitrace_call_api(struct tr_text name)
{
	static const struct {
		const char *prefix, *api;
		bool capital; /* a capital letter follows the prefix */
	} families[] = {
		{ "glX", "OpenGL + GLX/WGL/CGL", false },
		{ "wgl", "OpenGL + GLX/WGL/CGL", true },
		{ "CGL", "OpenGL + GLX/WGL/CGL", false },
		{ "egl", "OpenGL/GLES1/GLES2/VG + EGL", true },
		{ "Direct", "DirectX", false },
		{ "D3D", "DirectX", false },
		{ "Create", "DirectX", false },
	};

	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		struct tr_text rest = name;
		if (tr_text_skip(&rest, tr_text_from(families[i].prefix)) &&
		    (!families[i].capital || (rest.len && is_upper(*rest.data))))
			return families[i].api;
	}
	return NULL;
}
