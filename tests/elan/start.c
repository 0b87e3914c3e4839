/* The start: base fields, versions, places, capabilities, addresses, time. */
#include "check.h"

int main(void)
{
    begin();
    CHECK(elan_base == base && elan_baseInit(0) == base && elan_init(0) == state);
    CHECK(elan_attach(state) == 0 && state->attached);
    CHECK(me < all && base->allGroup->self == me && base->allGroup->size == all);
    for (unsigned i = 0; i < all; i++)
        CHECK(base->allGroup->lookupFn(base->allGroup->handle, i) == i);
    CHECK(elan_checkVersion(elan_version()) && !strcmp(elan_version(), QSNETLIBS_VERSION_STRING));
    CHECK(elan_queueMaxSlotSize(NULL) >= 320 && elan_nRails(state) >= 1);

    ELAN_CAPABILITY cap, *own = base->capabilities;
    elan_nullcap(&cap);
    CHECK(cap.cap_lowcontext == ELAN_CAP_UNINITIALISED);
    CHECK(elan_getenvCap(&cap, 0) == 0 && cap.cap_mycontext == own->cap_mycontext);
    CHECK(elan_nvps(own) == (int)all && own->cap_lowcontext == ELAN_USER_BASE_CONTEXT_NUM);
    ELAN_LOCATION here = elan_vp2location(me, own);
    CHECK(elan_location2vp(here, own) == (int)me && here.loc_context == own->cap_mycontext);
    CHECK(elan_nlocal(here.loc_node, own) == state->nLocalIds);
    CHECK(elan_nlocal(here.loc_node, own) <= elan_maxlocal(own));
    int vps[64], count = elan_localvps(here.loc_node, own, vps, 64);
    CHECK(count == state->nLocalIds && vps[state->localId] == (int)me);
    for (int i = 0; i < count; i++)
        CHECK(vps[i] == state->localIds[i] && ELAN_VPISLOCAL(state, vps[i]));
    char text[200];
    CHECK(elan_capability_string(own, text) == text && text[0] == 'N');
    CHECK(elan_generateCapability("N3C1024-1025-1030N0-7R1b") == 0);
    CHECK(elan_generateCapability("nodes") < 0);

    int local = 0;
    ELAN_ADDR at = elan_main2elan(state, &local);
    CHECK(elan_elan2main(state, at) == &local);
    CHECK(elan_addressable(state, &local, sizeof local) && !elan_addressable(state, NULL, 1));

    /* Memory: freed memory can be had again; memory that all allocate has one address. */
    char *one = elan_allocMain(state, 64, 1000), *other = elan_allocMain(state, 8, 10);
    CHECK(one && other && (uintptr_t)one % 64 == 0);
    elan_free(state, one);
    CHECK(elan_allocMain(state, 64, 1000) == one);
    ADDR_SDRAM sdram = elan_allocElan(state, 8, 100);
    CHECK(elan_elan2sdram(state, elan_sdram2elan(state, sdram)) == sdram);
    strcpy(elan_elan2main(state, elan_sdram2elan(state, sdram)), "bytes");
    elan_freeElan(state, sdram);
    for (unsigned i = 0; i < me; i++)
        elan_allocMain(state, 8, 100); /* one process's own memory has no influence */
    ELAN_ADDR *shared = elan_gallocMain(base, base->allGroup, 64, all * sizeof(ELAN_ADDR));
    ELAN_ADDR place = elan_main2elan(state, shared);
    elan_wait(elan_put(state, &place, shared + me, sizeof place, 0), base->waitType);
    elan_gsync(base->allGroup);
    if (me == 0)
        for (unsigned i = 0; i < all; i++)
            CHECK(shared[i] == place);
    elan_gsync(base->allGroup);
    elan_gallocFree(base, shared);
    CHECK(elan_gallocMain(base, base->allGroup, 64, 8) == (void *)shared);

    uint64_t before = elan_clock(state);
    elan_gsync(base->allGroup);
    CHECK(elan_clock(state) > before || all == 1);
    elan_enable_network(state);
    elan_disable_network(state);
    finish();
    elan_fini(state, base->allGroup, LIBELAN_FINI_GROUP);
    return 0;
}
