/* Calls that apitrace shows as having no side effects: those that ask for something, and labels. */
#include <stdlib.h>

#include "call/call_kind.h"

/* Sorted by bytes. */
/* clang-format off */
static const char *const names[] = {
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

/* These are left out of short texts, but apitrace says nothing about their effects. */
static const char *const unknown[] = {
	"eglGetConfigAttrib",		"glXGetFBConfigAttrib",		"glXGetFBConfigAttribSGIX",
	"wglGetPixelFormatAttribivARB", "wglGetPixelFormatAttribivEXT",
};

static int compare(const void *key, const void *element)
{
	const struct tr_text *name = key;
	const char *other = *(const char *const *)element;
	size_t len = strlen(other);
	int order = memcmp(name->data, other, name->len < len ? name->len : len);

	return order ? order : (name->len > len) - (name->len < len);
}

/* The name goes on after the prefix, with letters, digits and underscores only. */
static bool is_family(struct tr_text name, const char *prefix)
{
	size_t len = strlen(prefix);

	if (name.len <= len || memcmp(name.data, prefix, len) != 0)
		return false;
	for (size_t i = len; i < name.len; i++) {
		char c = name.data[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    c != '_')
			return false;
	}
	return true;
}

bool tr_call_is_plain(struct tr_text name)
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
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (is_family(name, families[i]))
			return true;
	if (tr_call_kinds(name) & TR_CALL_VERBOSE)
		return !bsearch(&name, unknown, sizeof unknown / sizeof *unknown, sizeof *unknown,
				compare);
	return bsearch(&name, names, sizeof names / sizeof *names, sizeof *names, compare);
}
