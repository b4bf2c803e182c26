// Masked moves of x86-64, and arithmetic of masked operands in memory: an access for each lane that is taken.
#include "masks_x86.h"

#include <string.h>

// Bytes of memory for each bit of the mask, of instructions of AVX-512 that leave alone what the mask leaves out. The
// others (shuffles, unpacking, insertions and the like) read their whole operand, whatever the mask.
static const uint8_t lane_bytes[OP_LAST + 1] = {
    [OP_vgf2p8mulb] = 1,      [OP_vmovdqu8] = 1,        [OP_vpabsb] = 1,          [OP_vpaddb] = 1,
    [OP_vpaddsb] = 1,         [OP_vpaddusb] = 1,        [OP_vpavgb] = 1,          [OP_vpblendmb] = 1,
    [OP_vpbroadcastb] = 1,    [OP_vpcmpb] = 1,          [OP_vpcmpeqb] = 1,        [OP_vpcmpgtb] = 1,
    [OP_vpcmpub] = 1,         [OP_vpcompressb] = 1,     [OP_vpexpandb] = 1,       [OP_vpmaxsb] = 1,
    [OP_vpmaxub] = 1,         [OP_vpminsb] = 1,         [OP_vpminub] = 1,         [OP_vpmovdb] = 1,
    [OP_vpmovqb] = 1,         [OP_vpmovsdb] = 1,        [OP_vpmovsqb] = 1,        [OP_vpmovswb] = 1,
    [OP_vpmovsxbd] = 1,       [OP_vpmovsxbq] = 1,       [OP_vpmovsxbw] = 1,       [OP_vpmovusdb] = 1,
    [OP_vpmovusqb] = 1,       [OP_vpmovuswb] = 1,       [OP_vpmovwb] = 1,         [OP_vpmovzxbd] = 1,
    [OP_vpmovzxbq] = 1,       [OP_vpmovzxbw] = 1,       [OP_vpopcntb] = 1,        [OP_vpshufbitqmb] = 1,
    [OP_vpsubb] = 1,          [OP_vpsubsb] = 1,         [OP_vpsubusb] = 1,        [OP_vptestmb] = 1,
    [OP_vptestnmb] = 1,       [OP_vcvtph2ps] = 2,       [OP_vcvtps2ph] = 2,       [OP_vmovdqu16] = 2,
    [OP_vpabsw] = 2,          [OP_vpaddsw] = 2,         [OP_vpaddusw] = 2,        [OP_vpaddw] = 2,
    [OP_vpavgw] = 2,          [OP_vpblendmw] = 2,       [OP_vpbroadcastw] = 2,    [OP_vpcmpeqw] = 2,
    [OP_vpcmpgtw] = 2,        [OP_vpcmpuw] = 2,         [OP_vpcmpw] = 2,          [OP_vpcompressw] = 2,
    [OP_vpexpandw] = 2,       [OP_vpmaxsw] = 2,         [OP_vpmaxuw] = 2,         [OP_vpminsw] = 2,
    [OP_vpminuw] = 2,         [OP_vpmovdw] = 2,         [OP_vpmovqw] = 2,         [OP_vpmovsdw] = 2,
    [OP_vpmovsqw] = 2,        [OP_vpmovsxwd] = 2,       [OP_vpmovsxwq] = 2,       [OP_vpmovusdw] = 2,
    [OP_vpmovusqw] = 2,       [OP_vpmovzxwd] = 2,       [OP_vpmovzxwq] = 2,       [OP_vpmulhrsw] = 2,
    [OP_vpmulhuw] = 2,        [OP_vpmulhw] = 2,         [OP_vpmullw] = 2,         [OP_vpopcntw] = 2,
    [OP_vpshldvw] = 2,        [OP_vpshldw] = 2,         [OP_vpshrdvw] = 2,        [OP_vpshrdw] = 2,
    [OP_vpsllvw] = 2,         [OP_vpsllw] = 2,          [OP_vpsravw] = 2,         [OP_vpsraw] = 2,
    [OP_vpsrlvw] = 2,         [OP_vpsrlw] = 2,          [OP_vpsubsw] = 2,         [OP_vpsubusw] = 2,
    [OP_vpsubw] = 2,          [OP_vptestmw] = 2,        [OP_vptestnmw] = 2,       [OP_vaddps] = 4,
    [OP_vaddss] = 4,          [OP_vandnps] = 4,         [OP_vandps] = 4,          [OP_vblendmps] = 4,
    [OP_vbroadcastf32x2] = 4, [OP_vbroadcastf32x4] = 4, [OP_vbroadcastf32x8] = 4, [OP_vbroadcasti32x2] = 4,
    [OP_vbroadcasti32x4] = 4, [OP_vbroadcasti32x8] = 4, [OP_vbroadcastss] = 4,    [OP_vcmpps] = 4,
    [OP_vcmpss] = 4,          [OP_vcompressps] = 4,     [OP_vcvtdq2pd] = 4,       [OP_vcvtdq2ps] = 4,
    [OP_vcvtneps2bf16] = 4,   [OP_vcvtps2dq] = 4,       [OP_vcvtps2pd] = 4,       [OP_vcvtps2qq] = 4,
    [OP_vcvtps2udq] = 4,      [OP_vcvtps2uqq] = 4,      [OP_vcvtss2sd] = 4,       [OP_vcvttps2dq] = 4,
    [OP_vcvttps2qq] = 4,      [OP_vcvttps2udq] = 4,     [OP_vcvttps2uqq] = 4,     [OP_vcvtudq2pd] = 4,
    [OP_vcvtudq2ps] = 4,      [OP_vdivps] = 4,          [OP_vdivss] = 4,          [OP_vdpbf16ps] = 4,
    [OP_vexpandps] = 4,       [OP_vextractf32x4] = 4,   [OP_vextractf32x8] = 4,   [OP_vextracti32x4] = 4,
    [OP_vextracti32x8] = 4,   [OP_vfixupimmps] = 4,     [OP_vfixupimmss] = 4,     [OP_vfmadd132ps] = 4,
    [OP_vfmadd132ss] = 4,     [OP_vfmadd213ps] = 4,     [OP_vfmadd213ss] = 4,     [OP_vfmadd231ps] = 4,
    [OP_vfmadd231ss] = 4,     [OP_vfmaddsub132ps] = 4,  [OP_vfmaddsub213ps] = 4,  [OP_vfmaddsub231ps] = 4,
    [OP_vfmsub132ps] = 4,     [OP_vfmsub132ss] = 4,     [OP_vfmsub213ps] = 4,     [OP_vfmsub213ss] = 4,
    [OP_vfmsub231ps] = 4,     [OP_vfmsub231ss] = 4,     [OP_vfmsubadd132ps] = 4,  [OP_vfmsubadd213ps] = 4,
    [OP_vfmsubadd231ps] = 4,  [OP_vfnmadd132ps] = 4,    [OP_vfnmadd132ss] = 4,    [OP_vfnmadd213ps] = 4,
    [OP_vfnmadd213ss] = 4,    [OP_vfnmadd231ps] = 4,    [OP_vfnmadd231ss] = 4,    [OP_vfnmsub132ps] = 4,
    [OP_vfnmsub132ss] = 4,    [OP_vfnmsub213ps] = 4,    [OP_vfnmsub213ss] = 4,    [OP_vfnmsub231ps] = 4,
    [OP_vfnmsub231ss] = 4,    [OP_vfpclassps] = 4,      [OP_vfpclassss] = 4,      [OP_vgetexpps] = 4,
    [OP_vgetexpss] = 4,       [OP_vgetmantps] = 4,      [OP_vgetmantss] = 4,      [OP_vmaxps] = 4,
    [OP_vmaxss] = 4,          [OP_vminps] = 4,          [OP_vminss] = 4,          [OP_vmovaps] = 4,
    [OP_vmovdqa32] = 4,       [OP_vmovdqu32] = 4,       [OP_vmovss] = 4,          [OP_vmovups] = 4,
    [OP_vmulps] = 4,          [OP_vmulss] = 4,          [OP_vorps] = 4,           [OP_vpabsd] = 4,
    [OP_vpaddd] = 4,          [OP_vpandd] = 4,          [OP_vpandnd] = 4,         [OP_vpblendmd] = 4,
    [OP_vpbroadcastd] = 4,    [OP_vpcmpd] = 4,          [OP_vpcmpeqd] = 4,        [OP_vpcmpgtd] = 4,
    [OP_vpcmpud] = 4,         [OP_vpcompressd] = 4,     [OP_vpdpbusd] = 4,        [OP_vpdpbusds] = 4,
    [OP_vpdpwssd] = 4,        [OP_vpdpwssds] = 4,       [OP_vpexpandd] = 4,       [OP_vplzcntd] = 4,
    [OP_vpmaxsd] = 4,         [OP_vpmaxud] = 4,         [OP_vpminsd] = 4,         [OP_vpminud] = 4,
    [OP_vpmovqd] = 4,         [OP_vpmovsqd] = 4,        [OP_vpmovsxdq] = 4,       [OP_vpmovusqd] = 4,
    [OP_vpmovzxdq] = 4,       [OP_vpmulld] = 4,         [OP_vpopcntd] = 4,        [OP_vpord] = 4,
    [OP_vprold] = 4,          [OP_vprolvd] = 4,         [OP_vprord] = 4,          [OP_vprorvd] = 4,
    [OP_vpshldd] = 4,         [OP_vpshldvd] = 4,        [OP_vpshrdd] = 4,         [OP_vpshrdvd] = 4,
    [OP_vpslld] = 4,          [OP_vpsllvd] = 4,         [OP_vpsrad] = 4,          [OP_vpsravd] = 4,
    [OP_vpsrld] = 4,          [OP_vpsrlvd] = 4,         [OP_vpsubd] = 4,          [OP_vpternlogd] = 4,
    [OP_vptestmd] = 4,        [OP_vptestnmd] = 4,       [OP_vpxord] = 4,          [OP_vrangeps] = 4,
    [OP_vrangess] = 4,        [OP_vrcp14ps] = 4,        [OP_vrcp14ss] = 4,        [OP_vreduceps] = 4,
    [OP_vreducess] = 4,       [OP_vrndscaleps] = 4,     [OP_vrndscaless] = 4,     [OP_vrsqrt14ps] = 4,
    [OP_vrsqrt14ss] = 4,      [OP_vscalefps] = 4,       [OP_vscalefss] = 4,       [OP_vsqrtps] = 4,
    [OP_vsqrtss] = 4,         [OP_vsubps] = 4,          [OP_vsubss] = 4,          [OP_vxorps] = 4,
    [OP_vaddpd] = 8,          [OP_vaddsd] = 8,          [OP_vandnpd] = 8,         [OP_vandpd] = 8,
    [OP_vblendmpd] = 8,       [OP_vbroadcastf64x2] = 8, [OP_vbroadcastf64x4] = 8, [OP_vbroadcasti64x2] = 8,
    [OP_vbroadcasti64x4] = 8, [OP_vbroadcastsd] = 8,    [OP_vcmppd] = 8,          [OP_vcmpsd] = 8,
    [OP_vcompresspd] = 8,     [OP_vcvtpd2dq] = 8,       [OP_vcvtpd2ps] = 8,       [OP_vcvtpd2qq] = 8,
    [OP_vcvtpd2udq] = 8,      [OP_vcvtpd2uqq] = 8,      [OP_vcvtqq2pd] = 8,       [OP_vcvtqq2ps] = 8,
    [OP_vcvtsd2ss] = 8,       [OP_vcvttpd2dq] = 8,      [OP_vcvttpd2qq] = 8,      [OP_vcvttpd2udq] = 8,
    [OP_vcvttpd2uqq] = 8,     [OP_vcvtuqq2pd] = 8,      [OP_vcvtuqq2ps] = 8,      [OP_vdivpd] = 8,
    [OP_vdivsd] = 8,          [OP_vexpandpd] = 8,       [OP_vextractf64x2] = 8,   [OP_vextractf64x4] = 8,
    [OP_vextracti64x2] = 8,   [OP_vextracti64x4] = 8,   [OP_vfixupimmpd] = 8,     [OP_vfixupimmsd] = 8,
    [OP_vfmadd132pd] = 8,     [OP_vfmadd132sd] = 8,     [OP_vfmadd213pd] = 8,     [OP_vfmadd213sd] = 8,
    [OP_vfmadd231pd] = 8,     [OP_vfmadd231sd] = 8,     [OP_vfmaddsub132pd] = 8,  [OP_vfmaddsub213pd] = 8,
    [OP_vfmaddsub231pd] = 8,  [OP_vfmsub132pd] = 8,     [OP_vfmsub132sd] = 8,     [OP_vfmsub213pd] = 8,
    [OP_vfmsub213sd] = 8,     [OP_vfmsub231pd] = 8,     [OP_vfmsub231sd] = 8,     [OP_vfmsubadd132pd] = 8,
    [OP_vfmsubadd213pd] = 8,  [OP_vfmsubadd231pd] = 8,  [OP_vfnmadd132pd] = 8,    [OP_vfnmadd132sd] = 8,
    [OP_vfnmadd213pd] = 8,    [OP_vfnmadd213sd] = 8,    [OP_vfnmadd231pd] = 8,    [OP_vfnmadd231sd] = 8,
    [OP_vfnmsub132pd] = 8,    [OP_vfnmsub132sd] = 8,    [OP_vfnmsub213pd] = 8,    [OP_vfnmsub213sd] = 8,
    [OP_vfnmsub231pd] = 8,    [OP_vfnmsub231sd] = 8,    [OP_vfpclasspd] = 8,      [OP_vfpclasssd] = 8,
    [OP_vgetexppd] = 8,       [OP_vgetexpsd] = 8,       [OP_vgetmantpd] = 8,      [OP_vgetmantsd] = 8,
    [OP_vmaxpd] = 8,          [OP_vmaxsd] = 8,          [OP_vminpd] = 8,          [OP_vminsd] = 8,
    [OP_vmovapd] = 8,         [OP_vmovdqa64] = 8,       [OP_vmovdqu64] = 8,       [OP_vmovsd] = 8,
    [OP_vmovupd] = 8,         [OP_vmulpd] = 8,          [OP_vmulsd] = 8,          [OP_vorpd] = 8,
    [OP_vpabsq] = 8,          [OP_vpaddq] = 8,          [OP_vpandnq] = 8,         [OP_vpandq] = 8,
    [OP_vpblendmq] = 8,       [OP_vpbroadcastq] = 8,    [OP_vpcmpeqq] = 8,        [OP_vpcmpgtq] = 8,
    [OP_vpcmpq] = 8,          [OP_vpcmpuq] = 8,         [OP_vpcompressq] = 8,     [OP_vpexpandq] = 8,
    [OP_vplzcntq] = 8,        [OP_vpmadd52huq] = 8,     [OP_vpmadd52luq] = 8,     [OP_vpmaxsq] = 8,
    [OP_vpmaxuq] = 8,         [OP_vpminsq] = 8,         [OP_vpminuq] = 8,         [OP_vpmuldq] = 8,
    [OP_vpmullq] = 8,         [OP_vpmuludq] = 8,        [OP_vpopcntq] = 8,        [OP_vporq] = 8,
    [OP_vprolq] = 8,          [OP_vprolvq] = 8,         [OP_vprorq] = 8,          [OP_vprorvq] = 8,
    [OP_vpshldq] = 8,         [OP_vpshldvq] = 8,        [OP_vpshrdq] = 8,         [OP_vpshrdvq] = 8,
    [OP_vpsllq] = 8,          [OP_vpsllvq] = 8,         [OP_vpsraq] = 8,          [OP_vpsravq] = 8,
    [OP_vpsrlq] = 8,          [OP_vpsrlvq] = 8,         [OP_vpsubq] = 8,          [OP_vpternlogq] = 8,
    [OP_vptestmq] = 8,        [OP_vptestnmq] = 8,       [OP_vpxorq] = 8,          [OP_vrangepd] = 8,
    [OP_vrangesd] = 8,        [OP_vrcp14pd] = 8,        [OP_vrcp14sd] = 8,        [OP_vreducepd] = 8,
    [OP_vreducesd] = 8,       [OP_vrndscalepd] = 8,     [OP_vrndscalesd] = 8,     [OP_vrsqrt14pd] = 8,
    [OP_vrsqrt14sd] = 8,      [OP_vscalefpd] = 8,       [OP_vscalefsd] = 8,       [OP_vsqrtpd] = 8,
    [OP_vsqrtsd] = 8,         [OP_vsubpd] = 8,          [OP_vsubsd] = 8,          [OP_vxorpd] = 8};

static bool is_packed(int opcode) {
    switch (opcode) {
    case OP_vcompressps:
    case OP_vcompresspd:
    case OP_vpcompressb:
    case OP_vpcompressw:
    case OP_vpcompressd:
    case OP_vpcompressq:
    case OP_vexpandps:
    case OP_vexpandpd:
    case OP_vpexpandb:
    case OP_vpexpandw:
    case OP_vpexpandd:
    case OP_vpexpandq:
        return true;
    default:
        return false;
    }
}

static bool has_immediate(instr_t *instruction) {
    for (int i = 0; i < instr_num_srcs(instruction); i++)
        if (opnd_is_immed(instr_get_src(instruction, i)))
            return true;
    return false;
}

// A shift by what memory holds: that isn't masked, while a shift of what memory holds is.
static bool reads_count(instr_t *instruction) {
    switch (instr_get_opcode(instruction)) {
    case OP_vpsllw:
    case OP_vpslld:
    case OP_vpsllq:
    case OP_vpsraw:
    case OP_vpsrad:
    case OP_vpsraq:
    case OP_vpsrlw:
    case OP_vpsrld:
    case OP_vpsrlq:
        return !has_immediate(instruction);
    default:
        return false;
    }
}

// Bytes of the elements of vectors, where they are wider than those of memory.
static uint32_t element_bytes(int opcode) {
    switch (opcode) {
    case OP_vcvtdq2pd:
    case OP_vcvtudq2pd:
    case OP_vcvtps2pd:
    case OP_vcvtps2qq:
    case OP_vcvtps2uqq:
    case OP_vcvttps2qq:
    case OP_vcvttps2uqq:
        return 8;
    default:
        return lane_bytes[opcode];
    }
}

static bool is_broadcast(int opcode) {
    switch (opcode) {
    case OP_vbroadcastss:
    case OP_vbroadcastsd:
    case OP_vbroadcastf32x2:
    case OP_vbroadcastf32x4:
    case OP_vbroadcastf32x8:
    case OP_vbroadcastf64x2:
    case OP_vbroadcastf64x4:
    case OP_vbroadcasti32x2:
    case OP_vbroadcasti32x4:
    case OP_vbroadcasti32x8:
    case OP_vbroadcasti64x2:
    case OP_vbroadcasti64x4:
    case OP_vpbroadcastb:
    case OP_vpbroadcastw:
    case OP_vpbroadcastd:
    case OP_vpbroadcastq:
        return true;
    default:
        return false;
    }
}

// The last byte of the instruction's EVEX prefix: what its operands don't say. Other prefixes may stand before it.
static uint8_t last_of_prefix(instr_t *instruction) {
    enum { EVEX = 0x62, EVEX_BYTES = 4 };
    const unsigned char *code = instr_get_app_pc(instruction);
    for (int i = 0; i + EVEX_BYTES <= instr_length(dr_get_current_drcontext(), instruction); i++)
        if (code[i] == EVEX)
            return code[i + EVEX_BYTES - 1];
    return 0;
}

// How many bits of the mask speak of `lanes` lanes of memory: more if these are repeated to fill a vector.
static uint32_t mask_lanes(instr_t *instruction, uint32_t lanes) {
    enum { BROADCAST = 1 << 4, LENGTH_SHIFT = 5, SHORTEST_VECTOR = 16 };
    uint8_t prefix = last_of_prefix(instruction);
    int opcode = instr_get_opcode(instruction);
    if (!(prefix & BROADCAST) && !is_broadcast(opcode))
        return lanes;
    return (SHORTEST_VECTOR << (prefix >> LENGTH_SHIFT & 3)) / element_bytes(opcode);
}

// The register itself says which lanes are taken, and can be stored whole.
static bool is_told_by_register(const struct told *told) {
    return told->mask & OPMASK && !told->is_packed && told->mask_lanes == told->lanes &&
           proc_has_feature(FEATURE_AVX512BW);
}

static void add_mask(struct planner *planner, instr_t *instruction, const struct told *told) {
    bool by_register = is_told_by_register(told);
    struct store *store = add_store(planner, instruction, by_register ? STORE_REGISTER : STORE_TOLD, told->root);
    store->told = *told;
    if (by_register)
        store->reg = (reg_id_t)(DR_REG_START_OPMASK + (told->mask & ~OPMASK));
}

static void take_masked(struct planner *planner, instr_t *instruction, opnd_t operand, bool writes, void *about) {
    struct told told = *(struct told *)about;
    told.lanes = (uint8_t)(size_of(instruction, operand) / told.element_bytes);
    if (told.lanes == 0) { // less than one lane can't be masked
        take_plain(planner, instruction, operand, writes, NULL);
        return;
    }
    told.root = add_roots(planner, 1);
    told.mask_lanes = (uint8_t)(told.mask & OPMASK ? mask_lanes(instruction, told.lanes) : told.lanes);
    add_mask(planner, instruction, &told);
    struct address address = address_of(planner, instruction, operand);
    struct trackway_access *access = add_access(planner, writes, told.element_bytes, &address);
    access->form = TRACKWAY_MASKED;
    access->lanes = told.lanes;
    access->first = told.root;
}

static bool plan_opmask(struct planner *planner, instr_t *instruction) {
    int opcode = instr_get_opcode(instruction);
    reg_id_t mask = mask_of(instruction);
    if (mask == DR_REG_NULL || mask == DR_REG_K0 || lane_bytes[opcode] == 0 || reads_count(instruction))
        return false;
    struct told told = {.form = TRACKWAY_MASKED,
                        .mask = (uint8_t)(OPMASK | (mask - DR_REG_START_OPMASK)),
                        .is_packed = is_packed(opcode),
                        .element_bytes = lane_bytes[opcode]};
    each_operand(planner, instruction, take_masked, &told);
    return true;
}

// Bytes of an element in moves whose mask is the highest bits of a vector's elements; 0: it is no such move.
static uint8_t vector_mask_bytes(int opcode) {
    switch (opcode) {
    case OP_vmaskmovps:
    case OP_vpmaskmovd:
        return 4;
    case OP_vmaskmovpd:
    case OP_vpmaskmovq:
        return 8;
    case OP_maskmovdqu:
    case OP_vmaskmovdqu:
        return 1;
    default:
        return 0;
    }
}

static reg_id_t simd_source(instr_t *instruction, bool last) {
    reg_id_t found = DR_REG_NULL;
    for (int i = 0; i < instr_num_srcs(instruction); i++) {
        opnd_t operand = instr_get_src(instruction, i);
        if (opnd_is_reg(operand) && reg_is_simd(opnd_get_reg(operand)) && (last || found == DR_REG_NULL))
            found = opnd_get_reg(operand);
    }
    return found;
}

bool plan_masked(struct planner *planner, instr_t *instruction) {
    int opcode = instr_get_opcode(instruction);
    uint8_t bytes = vector_mask_bytes(opcode);
    if (bytes == 0)
        return plan_opmask(planner, instruction);
    // Stores have two vectors, and DynamoRIO names that of these before the data.
    bool is_first = opcode == OP_vmaskmovps || opcode == OP_vmaskmovpd;
    struct told told = {
        .form = TRACKWAY_MASKED, .mask = simd_number(simd_source(instruction, !is_first)), .element_bytes = bytes};
    each_operand(planner, instruction, take_masked, &told);
    return true;
}
