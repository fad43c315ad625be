/* SPDX-License-Identifier: MIT */
/* Names of C++ and Ada, as c++filt (-s gnat for Ada) writes them; what is no such name stays. */
#include "symbol/demangle.h"

#include <string.h>

#include "tap.h"

static const struct {
	const char *name, *ada, *other; /* NULL: unchanged */
} rows[] = {
	{ "_ZN1a1fEi", "a::f(int)", "a::f(int)" },
	{ "_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size() const",
	  "std::vector<int, std::allocator<int> >::size() const" },
	{ "_ZN1aC1Ev", "a::a()", "a::a()" },
	{ "_Z", NULL, NULL },
	{ "_ZN", NULL, NULL },
	{ "main", "main", NULL },
	{ "", NULL, NULL },
	{ "_ada_hello", "hello", "hello" },
	{ "_ada_", NULL, NULL },
	{ "pkg__sub", "pkg.sub", NULL },
	{ "pkg__sub_2a__x", "pkg.sub_2a.x", NULL },
	{ "pkg__over__2", "pkg.over", NULL },
	{ "pkg__over__2_13", "pkg.over", NULL },
	{ "pkg__over__2Xnb", "pkg.over", NULL },
	{ "pkg__subX", "pkg.sub", NULL },
	{ "pkg__subXnbb__x", "pkg.sub.x", NULL },
	{ "pkg__Oadd", "pkg.\"+\"", NULL },
	{ "pkg__One__2", "pkg.\"/=\"", NULL },
	{ "pkg__Oexpon", "pkg.\"**\"", NULL },
	{ "pkg__Onothing", NULL, NULL },
	{ "pkg__sub.12", "pkg.sub", NULL },
	{ "pkg__sub.x", NULL, NULL },
	{ "pkg___elabb", "pkg'Elab_Body", NULL },
	{ "pkg___elabs", "pkg'Elab_Spec", NULL },
	{ "pkg__t___size", "pkg.t'Size", NULL },
	{ "pkg__t___assign", "pkg.t.\":=\"", NULL },
	{ "pkg__t___size__2", "pkg.t'Size", NULL },
	{ "pkg__t___sizeXn", "pkg.t'Size", NULL },
	{ "pkg__t___assign__3Xn", "pkg.t.\":=\"", NULL },
	{ "pkg___other", NULL, NULL },
	{ "pkg__workerTKB", "pkg.worker", NULL },
	{ "pkg__workerTK__x", "pkg.worker.x", NULL },
	{ "pkg__prot__getN", "pkg.prot.get", NULL },
	{ "pkg__prot__getP", "pkg.prot.get", NULL },
	{ "pkg__tSR", "pkg.t'Read", NULL },
	{ "pkg__tSO__2", "pkg.t'Output", NULL },
	{ "pkg__tSX", NULL, NULL },
	{ "pkg__tDF", "pkg.t.Finalize", NULL },
	{ "pkg__tDA", "pkg.t.Adjust", NULL },
	{ "pkg__tDX", NULL, NULL },
	{ "pkg__e_B12s", "pkg.e", NULL },
	{ "pkg__e_E1s", "pkg.e", NULL },
	{ "pkg__e_B12", NULL, NULL },
	{ "pkg__errE", NULL, NULL },
	{ "pkg__tIP", NULL, NULL },
	{ "pkg__", NULL, NULL },
	{ "pkg_", NULL, NULL },
	{ "Pkg__sub", NULL, NULL },
};

int main(void)
{
	struct tr_demangle demangle = { .failed = false };
	struct tr_error err;
	bool ready = tr_demangle_begin(&demangle, &err);
	ok(ready, "libstdc++ is loaded");
	for (size_t i = 0; ready && i < sizeof rows / sizeof *rows; i++) {
		const char *want = rows[i].ada ? rows[i].ada : rows[i].name;
		const char *got = tr_demangle(&demangle, rows[i].name, true);
		ok(strcmp(got, want) == 0, "Ada: %s: %s", rows[i].name, got);
		want = rows[i].other ? rows[i].other : rows[i].name;
		got = tr_demangle(&demangle, rows[i].name, false);
		ok(strcmp(got, want) == 0, "other: %s: %s", rows[i].name, got);
	}
	ok(!demangle.failed && !tr_demangle(&demangle, NULL, true), "no name");
	tr_demangle_free(&demangle);
	return done_testing();
}
