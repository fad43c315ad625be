dnl SPDX-License-Identifier: MIT
# AX_TREC_SWITCHES: --enable-{werror,hardening,asan,ubsan,tsan,coverage,fuzz} and our warnings.
# They end up in TREC_CFLAGS and TREC_LDFLAGS, so that CFLAGS stays the user's.
AC_DEFUN([AX_TREC_SWITCHES], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors])],
    [], [enable_werror=no])
  AC_ARG_ENABLE([hardening], [AS_HELP_STRING([--disable-hardening],
    [without stack protector, fortified functions, PIE, and relocations that are read-only])],
    [], [enable_hardening=yes])
  AC_ARG_ENABLE([asan], [AS_HELP_STRING([--enable-asan], [AddressSanitizer and LeakSanitizer])],
    [], [enable_asan=no])
  AC_ARG_ENABLE([ubsan], [AS_HELP_STRING([--enable-ubsan], [UndefinedBehaviorSanitizer, errors are fatal])],
    [], [enable_ubsan=no])
  AC_ARG_ENABLE([tsan], [AS_HELP_STRING([--enable-tsan], [ThreadSanitizer, without the other two])],
    [], [enable_tsan=no])
  AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [gcov instrumentation])],
    [], [enable_coverage=no])
  AC_ARG_ENABLE([fuzz], [AS_HELP_STRING([--enable-fuzz], [libFuzzer targets (needs clang)])],
    [], [enable_fuzz=no])
  TREC_CFLAGS="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wwrite-strings -fno-strict-aliasing"
  TREC_LDFLAGS=
  AS_IF([test "$enable_werror" = yes], [TREC_CFLAGS="$TREC_CFLAGS -Werror"])
  # sanitizers find more, and do not go with fortified functions; tests/bench/run shows no cost
  AS_IF([test "$enable_hardening$enable_asan$enable_ubsan$enable_tsan$enable_fuzz" = yesnononono], [
    AX_TREC_HARDEN([-fstack-protector-strong], [])
    AX_TREC_HARDEN([-fstack-clash-protection], [])
    AX_TREC_HARDEN([-fcf-protection], [])
    AX_TREC_HARDEN([-fPIE], [-pie])
    AX_TREC_HARDEN([], [-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack])
    AC_DEFINE([TREC_HARDENED], [1], [Define to have fortified functions.])])
  AH_BOTTOM([/* Without optimisation the C library warns about it; the library of tr-record says 0. */
#if defined TREC_HARDENED && defined __OPTIMIZE__ && !defined _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2
#endif])
  trec_sanitize=
  AS_IF([test "$enable_asan" = yes], [trec_sanitize=address])
  AS_IF([test "$enable_ubsan" = yes], [
    trec_sanitize="${trec_sanitize:+$trec_sanitize,}undefined"
    TREC_CFLAGS="$TREC_CFLAGS -fno-sanitize-recover=undefined"])
  AS_IF([test "$enable_tsan" = yes], [trec_sanitize=thread])
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
  AM_CONDITIONAL([COVERAGE], [test "$enable_coverage" = yes])
])

# AX_TREC_HARDEN(CFLAGS, LDFLAGS): adds flags that the compiler knows and whose programs it can link.
AC_DEFUN([AX_TREC_HARDEN], [
  trec_save_cflags=$CFLAGS
  trec_save_ldflags=$LDFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  LDFLAGS="$LDFLAGS $2"
  AC_MSG_CHECKING([whether $CC takes $1 $2])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [
    AC_MSG_RESULT([yes])
    TREC_CFLAGS="$TREC_CFLAGS $1"
    TREC_LDFLAGS="$TREC_LDFLAGS $2"], [AC_MSG_RESULT([no])])
  CFLAGS=$trec_save_cflags
  LDFLAGS=$trec_save_ldflags
])

# AX_TREC_PRELOAD32: --enable-preload32, and how the compiler makes 32-bit programs on amd64. Debian
# has the headers of the kernel in the folder of the 64-bit system only.
AC_DEFUN([AX_TREC_PRELOAD32], [
  AC_ARG_ENABLE([preload32], [AS_HELP_STRING([--enable-preload32],
    [tr-record --backend=preload for 32-bit programs, too (default: where the compiler can)])],
    [], [enable_preload32=auto])
  PRELOAD32_FLAGS=
  AS_IF([test "$enable_preload32" != no], [
    AC_CACHE_CHECK([how to make 32-bit programs], [trec_cv_preload32], [
      trec_cv_preload32=no
      trec_save_cflags=$CFLAGS
      trec_multiarch=`$CC -print-multiarch 2>/dev/null || echo x86_64-linux-gnu`
      for trec_flags in "-m32" "-m32 -isystem /usr/include/$trec_multiarch"; do
        CFLAGS="$trec_save_cflags $trec_flags"
        AS_IF([test "$trec_cv_preload32" = no], [
          AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdio.h>
#include <sys/syscall.h>
#ifndef __i386__
#error "no second kind of programs"
#endif]], [[printf("%d", SYS_openat);]])], [trec_cv_preload32=$trec_flags])])
      done
      CFLAGS=$trec_save_cflags])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#if !defined __x86_64__ || !defined __LP64__
#error "no first kind of programs"
#endif]])], [], [trec_cv_preload32=no])
    AS_IF([test "$trec_cv_preload32" != no],
        [enable_preload32=yes PRELOAD32_FLAGS=$trec_cv_preload32],
      [test "$enable_preload32" = yes],
        [AC_MSG_ERROR([$CC makes no 32-bit programs: on amd64, Debian has what it needs in libc6-dev-i386 and lib32gcc-N-dev, or gcc-multilib])],
      [enable_preload32=no])
  ])
  AC_SUBST([PRELOAD32_FLAGS])
  AM_CONDITIONAL([PRELOAD32], [test "$enable_preload32" = yes])
])

# AX_TREC_PTHREAD: threads are in libc or in -lpthread.
AC_DEFUN([AX_TREC_PTHREAD], [
  AC_SEARCH_LIBS([pthread_create], [pthread], [],
    [AC_MSG_ERROR([no POSIX threads])])
])

# AX_TREC_TAR: make dist gives the same bytes whoever runs it, and when: names are sorted, owners
# and modes fixed, times those of SOURCE_DATE_EPOCH, else of the last commit, and in an unpacked
# tarball those that it has. Requires GNU tar.
AC_DEFUN([AX_TREC_TAR], [
  am__tar='$${TAR-tar} --format=pax --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w --mtime=@"$${SOURCE_DATE_EPOCH:-$$(git -C "$(srcdir)" log -1 --format=%ct -- . 2>/dev/null | grep . || stat -c %Y "$(srcdir)/configure.ac")}" -chf - "$$tardir"'
])
