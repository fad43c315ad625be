# AX_TREC_SWITCHES: --enable-{werror,asan,ubsan,coverage,fuzz} and our warnings.
# They end up in TREC_CFLAGS and TREC_LDFLAGS, so that CFLAGS stays the user's.
AC_DEFUN([AX_TREC_SWITCHES], [
  m4_foreach_w([switch], [werror asan ubsan coverage fuzz], [
    AC_ARG_ENABLE(switch, [AS_HELP_STRING([--enable-]switch, m4_case(switch,
      [werror], [warnings are errors],
      [asan], [AddressSanitizer and LeakSanitizer],
      [ubsan], [UndefinedBehaviorSanitizer, errors are fatal],
      [coverage], [gcov instrumentation],
      [fuzz], [libFuzzer targets (needs clang)]))],
      [], [AS_VAR_SET([enable_]switch, [no])])
  ])
  TREC_CFLAGS="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wwrite-strings -fno-strict-aliasing"
  TREC_LDFLAGS=
  AS_IF([test "$enable_werror" = yes], [TREC_CFLAGS="$TREC_CFLAGS -Werror"])
  trec_sanitize=
  AS_IF([test "$enable_asan" = yes], [trec_sanitize=address])
  AS_IF([test "$enable_ubsan" = yes], [
    trec_sanitize="${trec_sanitize:+$trec_sanitize,}undefined"
    TREC_CFLAGS="$TREC_CFLAGS -fno-sanitize-recover=undefined"])
  AS_IF([test -n "$trec_sanitize"], [
    TREC_CFLAGS="$TREC_CFLAGS -fsanitize=$trec_sanitize -fno-omit-frame-pointer"
    TREC_LDFLAGS="$TREC_LDFLAGS -fsanitize=$trec_sanitize"])
  AS_IF([test "$enable_coverage" = yes], [
    TREC_CFLAGS="$TREC_CFLAGS --coverage"
    TREC_LDFLAGS="$TREC_LDFLAGS --coverage"])
  AS_IF([test "$enable_fuzz" = yes], [
    TREC_CFLAGS="$TREC_CFLAGS -fsanitize=fuzzer-no-link"])
  AC_SUBST([TREC_CFLAGS])
  AC_SUBST([TREC_LDFLAGS])
  AM_CONDITIONAL([FUZZ], [test "$enable_fuzz" = yes])
  AM_CONDITIONAL([SANITIZED], [test -n "$trec_sanitize"])
])

# AX_TREC_PTHREAD: threads are in libc or in -lpthread.
AC_DEFUN([AX_TREC_PTHREAD], [
  AC_SEARCH_LIBS([pthread_create], [pthread], [],
    [AC_MSG_ERROR([no POSIX threads])])
])
