dnl SPDX-License-Identifier: MIT
# AX_TREC_SONAME(VARIABLE, LIBS, PATTERN): defines VARIABLE as the name under
# which the dynamic loader knows the library of LIBS that matches PATTERN. It is
# loaded when it is needed (lib/core/library.h), and has to be there now so that
# it is the one whose header was compiled.
AC_DEFUN([AX_TREC_SONAME], [
  AC_REQUIRE([AC_PROG_SED])
  AC_CHECK_TOOL([READELF], [readelf], [false])
  AC_CACHE_CHECK([for the soname of $3], [trec_cv_$1], [
    trec_save_LIBS=$LIBS
    trec_save_LDFLAGS=$LDFLAGS
    LIBS="$2"
    LDFLAGS="$LDFLAGS -Wl,--no-as-needed"
    trec_cv_$1=
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [
      trec_cv_$1=`$READELF -d conftest$EXEEXT |
        $SED -n 's/.*(NEEDED).*\@<:@\(lib$3\.@<:@^@:>@@:>@*\)\@:>@.*/\1/p'`])
    LIBS=$trec_save_LIBS
    LDFLAGS=$trec_save_LDFLAGS])
  AS_IF([test -z "$trec_cv_$1"], [AC_MSG_ERROR([lib$3 has no soname])])
  AC_DEFINE_UNQUOTED([$1], ["$trec_cv_$1"], [the name of lib$3 for the dynamic loader])
])
