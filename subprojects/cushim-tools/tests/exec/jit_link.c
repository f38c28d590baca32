/* SPDX-License-Identifier: MIT */
/* Two versions of a library with one name, and a library that needs the newer one. */
#if defined(IS_USER)
int nvJitLinkNewer(void);

int use(void);
int use(void)
{
    return nvJitLinkNewer();
}
#else
int nvJitLinkOlder(void);
int nvJitLinkOlder(void)
{
    return 0;
}
#    if defined(IS_NEWER)
int nvJitLinkNewer(void);
int nvJitLinkNewer(void)
{
    return 0;
}
#    endif
#endif
