"""PTX statements drawn at random from the grammars of instructions: legal ones, illegal ones and nonsense.

A production is a template: `<a|b|>` is one of its alternatives, and may hold others; all `<1=a|b>` of a template take
the alternative at the same place, so that operands fit modifiers. `R4` is a vector of four 32-bit registers (`H`, `X`,
`F`, `D`: 16, 64 bits, f32, f64).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

_CHOICE = re.compile(r"<(?:(\d)=)?([^<>]*)>")
_VECTOR = re.compile(r"\b([RHXFD])(\d+)\b")
_PREFIX = {"R": "r", "H": "h", "X": "x", "F": "f", "D": "dd"}

_BULK = "mbarrier::complete_tx::bytes"
_TYPES = "<b8|b16|b32|b64|u8|u16|u32|u64|s32|s64|f32|f64|b128>"
_SCOPE = "<cta|cluster|gpu|sys>"
_SPACE = "<|.global|.shared|.shared::cta|.shared::cluster|.local>"
_NARROW = "<e4m3|e5m2|e2m1|e2m3|e3m2>"
_HINT = "<||.L2::cache_hint>"

PRODUCTIONS: dict[str, tuple[str, ...]] = {
    "tcgen05": (
        "tcgen05.alloc.cta_group::<1|2|3>.sync.aligned<.shared::cta|>.b32 [<r0|x0>], <32|r1>;",
        "tcgen05.dealloc.cta_group::<1|2>.sync.aligned.b32 r1, <32|64|512>;",
        "tcgen05.relinquish_alloc_permit.cta_group::<1|2>.sync.aligned;",
        "tcgen05.shift.cta_group::<1|2>.down [r1];",
        "tcgen05.commit.cta_group::<1|2>.mbarrier::arrive::one<.shared::cluster|>.b64 [<r0|x0>];",
        "tcgen05.commit.cta_group::<1|2>.mbarrier::arrive::one<.shared::cluster|>.multicast::cluster.b64 [<r0|x0>], h0;",
        "tcgen05.ld.sync.aligned.<32x32b|16x64b>.x1<|.pack::16b>.b32 R1, [r1];",
        "tcgen05.ld.sync.aligned.<32x32b|16x64b>.x<1=2|4|8>.b32 R<1=2|4|8>, [r1];",
        "tcgen05.ld.sync.aligned.16x<1=128|256|64>b.x1<|.pack::16b>.b32 R<1=2|4|1>, [r1];",
        "tcgen05.ld.sync.aligned.16x32bx2.x<1=1|2>.b32 R<1=1|2>, [r1], <0|2>;",
        "tcgen05.ld.red.sync.aligned.<2=32x32b|16x32bx2>.x<1=2|4>.<min|max><3=.abs||.NaN|||>.<3=f32|f32|f32|u32|s32|f32> R<1=2|4>, r12, [r1]<2=|, 2>;",
        "tcgen05.st.sync.aligned.<1=32x32b|16x64b|16x128b|16x256b>.x1<|.unpack::16b>.b32 [r1], R<1=1|1|2|4>;",
        "tcgen05.wait::<ld|st>.sync.aligned;",
        "tcgen05.fence::<before|after>_thread_sync;",
        "tcgen05.cp.cta_group::<1|2>.<128x256b|4x256b|128x128b|64x128b.warpx2::02_13|64x128b.warpx2::01_23|32x128b.warpx4>"
        "<|.b8x16.b6x16_p32|.b8x16.b4x16_p64> [r1], x1;",
        "tcgen05.mma.cta_group::<1|2>.kind::<f16|tf32|f8f6f4|i8><|.ashift><|.collector::a::<fill|use|lastuse|discard>>"
        " [r1], <x1|[r3]>, x2, r2, p<|, 1|, 15>;",
        "tcgen05.mma.cta_group::<1|2>.kind::<f16|tf32|f8f6f4|i8> [r1], x1, x2, r2, R<1=4|8>, p<|, 3>;",
        "tcgen05.mma.sp.cta_group::<1|2>.kind::<f16|tf32|f8f6f4|i8> [r1], <x1|[r4]>, x2, [r3], r2, <|R4, >p<|, 2>;",
        "tcgen05.mma.ws.cta_group::<1|2>.kind::<f16|tf32|f8f6f4|i8><|.collector::b<0|1|2|3>::<fill|use|lastuse|discard>>"
        " [r1], <x1|[r4]>, x2, r2, p<|, x3>;",
        "tcgen05.mma.ws.sp.cta_group::1.kind::<f16|tf32|f8f6f4|i8> [r1], x1, x2, [r3], r2, p<|, x3>;",
        "tcgen05.mma<|.sp>.cta_group::<1|2>.kind::<mxf8f6f4|mxf4|mxf4nvf4>.block_scale"
        "<|.scale_vec::1X|.scale_vec::2X|.scale_vec::4X|.block16|.block32> [r1], <x1|[r6]>, x2, <|[r5], >r2, [r3], [r4], p;",
    ),
    "wgmma": (
        "wgmma.<fence|commit_group>.sync.aligned;",
        "wgmma.wait_group.sync.aligned <0|1|7>;",
        "wgmma.mma_async.sync.aligned.m64n8k<1=16|16|8|32|32|16|32>.<1=f32|f32|f32|f32|f32|f16|f16>"
        ".<1=f16.f16|bf16.bf16|tf32.tf32|e4m3.e4m3|e5m2.e4m3|f16.f16|e4m3.e5m2>"
        " <1=F4|F4|F4|F4|F4|R2|R2>, x1, x2, p, 1, 1<1=, 0, 0|, 0, 1||||, 1, 1|>;",
        "wgmma.mma_async<1=|.sp>.sync.aligned.m64n8k<1=32|64>.s32.<s8|u8>.<s8|u8><|.satfinite> R4, <x1|R4>, x2, <1=|r0, 0, >p;",
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc R4, x1, x2, p;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k<1=32|32|16|64>.f32.<1=f16.f16|bf16.bf16|tf32.tf32|e4m3.e4m3>"
        " F4, x1, x2, r0, 0, p, 1, 1<1=, 0, 0|, 0, 0||>;",
    ),
    "registers": ("setmaxnreg.<inc|dec>.sync.aligned.u32 <24|40|256|232>;",),
    "tensormap": (
        "tensormap.replace.tile.global_address.<shared::cta|global>.b1024.b64 [<r0|x0>], x1;",
        "tensormap.replace.tile.<rank|box_dim|global_dim|element_stride>.<shared::cta|global>.b1024.b32 [<r0|x0>], <0, r1|r1|2>;",
        "tensormap.replace.tile.global_stride.<shared::cta|global>.b1024.b64 [<r0|x0>], <0, x1|x1>;",
        "tensormap.replace.tile.elemtype.<shared::cta|global>.b1024.b32 [<r0|x0>], <0|5|9|12|13|14|15|16|0xd>;",
        "tensormap.replace.tile.<interleave_layout|swizzle_mode|fill_mode>.<shared::cta|global>.b1024.b32 [<r0|x0>], <0|1|2|3|4|5>;",
        "tensormap.replace.tile.swizzle_atomicity.<shared::cta|global>.b1024.b32 [<r0|x0>], <0|1|2|3>;",
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.<cta|cluster|gpu|sys>.sync.aligned [x0], [r0], 128;",
        "prefetch<|.param|.const>.tensormap [x0];",
        "prefetch<|.global|.local>.<L1|L2|L2::evict_last|L2::evict_normal> [x0];",
    ),
    "mma": (
        "mma.sync.aligned.m16n8k<2=8|16>.row.col.<1=f32.f16.f16.f32|f32.bf16.bf16.f32|f16.f16.f16.f16> <1=F4|F4|R2>, "
        "<2=R2|R4>, <2=R1|R2>, <1=F4|F4|R2>;",
        "mma.sync.aligned.m16n8k<1=4|8>.row.col.f32.tf32.tf32.f32 F4, <1=R2|R4>, <1=R1|R2>, F4;",
        "mma.sync.aligned.m8n8k4.<row|col>.<row|col>.<1=f16|f32|f32>.f16.f16.<1=f16|f16|f32> <1=R4|F8|F8>, R2, R2, <1=R4|R4|F8>;",
        "mma.sync.aligned.<1=m8n8k4|m16n8k4|m16n8k8|m16n8k16>.row.col<|.rn|.rz>.f64.f64.f64.f64 D<1=2|4|4|4>, D<1=1|2|4|8>, D<1=1|1|2|4>, D<1=2|4|4|4>;",
        "mma.sync.aligned.m8n8k<1=16|32>.row.col<|.satfinite>.s32.<1=s8|u4>.<1=u8|s4>.s32 R2, R1, R1, R2;",
        "mma.sync.aligned.m16n8k<1=16|32|32|64>.row.col<|.satfinite>.s32.<1=s8|u8|s4|u4>.<1=s8|s8|u4|s4>.s32 R4, R<1=2|4|2|4>, R<1=1|2|1|2>, R4;",
        "mma.sync.aligned.<1=m8n8k128|m16n8k128|m16n8k256>.row.col.s32.b1.b1.s32.<xor|and>.popc R<1=2|4|4>, R<1=1|2|4>, R<1=1|1|2>, R<1=2|4|4>;",
        f"mma.sync.aligned.m16n8k<2=16|32>.row.col.<1=f32|f16>.{_NARROW}.{_NARROW}.<1=f32|f16> <1=F4|R2>, R<2=2|4>, R<2=1|2>, <1=F4|R2>;",
        f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{_NARROW}.{_NARROW}.f32 F4, R4, R2, F4;",
        f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.{_NARROW}.{_NARROW}.f16 R2, R4, R2, R2;",
        f"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale<|.scale_vec::1X|.scale_vec::2X>.f32.{_NARROW}.{_NARROW}.f32"
        ".<ue8m0|ue4m3> F4, R4, R2, F4, r8, {0,<0|1>}, r9, {0,0};",
        "mma.sync.aligned.m16n8k64.row.col.kind::<mxf4|mxf4nvf4>.block_scale<|.scale_vec::2X|.scale_vec::4X>.f32.e2m1.e2m1.f32"
        ".<ue8m0|ue4m3> F4, R4, R2, F4, r8, {0,0}, r9, {0,0};",
        "mma.sp<|::ordered_metadata>.sync.aligned.m16n8k<2=16|32>.row.col.<1=f32.f16.f16.f32|f32.bf16.bf16.f32|f16.f16.f16.f16>"
        " <1=F4|F4|R2>, R<2=2|4>, R<2=2|4>, <1=F4|F4|R2>, r8, <0|1>;",
        "mma.sp<|::ordered_metadata>.sync.aligned.m16n8k<1=8|16>.row.col.f32.tf32.tf32.f32 F4, R<1=2|4>, R<1=2|4>, F4, r8, 0;",
        "mma.sp<|::ordered_metadata>.sync.aligned.m16n8k<1=32|64|64|128>.row.col.s32.<1=s8.s8|s8.u8|u4.u4|s4.s4>.s32 R4, R<1=2|4|2|4>, R<1=2|4|2|4>, R4, r8, 0;",
        f"mma.sp<|::ordered_metadata>.sync.aligned.m16n8k64.row.col<|.kind::f8f6f4>.<1=f32|f16>.{_NARROW}.{_NARROW}.<1=f32|f16>"
        " <1=F4|R2>, R4, R4, <1=F4|R2>, r8, 0;",
        f"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale<|.scale_vec::1X>.f32.{_NARROW}.{_NARROW}"
        ".f32.ue8m0 F4, R4, R4, F4, r8, 0, r9, {0,0}, r10, {0,0};",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::<mxf4|mxf4nvf4>.block_scale<|.scale_vec::2X|.scale_vec::4X>"
        ".f32.e2m1.e2m1.f32.<ue8m0|ue4m3> F4, R4, R4, F4, r8, 0, r9, {0,0}, r10, {0,0};",
        "wmma.mma.sync.aligned.<row|col>.<row|col>.<m16n16k16|m8n32k16|m32n8k16>.<1=f32|f16>.<2=f32|f16> <1=F8|R4>, R8, R8, <2=F8|R4>;",
        "wmma.mma.sync.aligned.row.col.m16n16k16.<1=f32.bf16.bf16.f32|s32.s8.s8.s32|s32.u8.u8.s32> <1=F8|R8|R8>, <1=R4|R2|R2>, <1=R4|R2|R2>, <1=F8|R8|R8>;",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 F8, R4, R4, F8;",
        "wmma.mma.sync.aligned.row.col.m8n8k4<|.rn>.f64.f64.f64.f64 D2, D1, D1, D2;",
        "wmma.mma.<xor|and>.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 R2, R1, R1, R2;",
    ),
    "matrix": (
        "ldmatrix.sync.aligned.m8n8.x<1=1|2|4><|.trans><.shared|.shared::cta>.b16 R<1=1|2|4>, [r0];",
        "ldmatrix.sync.aligned.m16n16.x<1=1|2>.trans.shared<|::cta>.<b8|b8x16.b6x16_p32|b8x16.b4x16_p64> R<1=2|4>, [r0];",
        "ldmatrix.sync.aligned.m8n16.x<1=1|2|4>.shared.<b8x16.b6x16_p32|b8x16.b4x16_p64> R<1=1|2|4>, [r0];",
        "stmatrix.sync.aligned.m8n8.x<1=1|2|4><|.trans><.shared|.shared::cta>.b16 [r0], R<1=1|2|4>;",
        "stmatrix.sync.aligned.m16n8.x<1=1|2|4>.trans.shared.b8 [r0], R<1=1|2|4>;",
        "movmatrix.sync.aligned.m8n8.trans.b16 r1, r2;",
    ),
    "bulk": (
        "cp.async.<ca|cg>.shared<|::cta>.global<1=|.L2::128B|.L2::256B|.L2::cache_hint> [r0], [x0], 16<1=|, r1||, x1>;",
        "cp.async.<commit_group|wait_all|wait_group 1>;",
        "cp.async.mbarrier.arrive<|.noinc><|.shared|.shared::cta>.b64 [r0];",
        f"cp.async.bulk.shared::<cluster|cta>.global.{_BULK}<1=|.multicast::cluster><2=|.L2::cache_hint> [r0], [x0], 64, [r1]<1=|, h0><2=|, x1>;",
        f"cp.async.bulk.shared::<cluster|cta>.shared::cta.{_BULK} [r0], [r2], 64, [r1];",
        "cp.async.bulk.global.shared::cta.bulk_group<1=|.L2::cache_hint><2=|.cp_mask> [x0], [r0], 64<1=|, x1><2=|, h0>;",
        "cp.async.bulk.prefetch.L2.global<1=|.L2::cache_hint> [x0], 64<1=|, x1>;",
        "cp.async.bulk.<commit_group|wait_group 0|wait_group.read 1>;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group<1=|.L2::cache_hint>.<2=add|min|max|and|or|inc|add|add|min|add>"
        ".<2=u32|s32|u64|b32|b64|u32|f32|noftz.f16|bf16|noftz.bf16> [x0], [r0], 64<1=|, x1>;",
        f"cp.reduce.async.bulk.shared::cluster.shared::cta.{_BULK}.<1=add|min|and|inc|dec>.<1=u32|s32|b32|u32|u32> [r0], [r2], 64, [r1];",
        f"cp.async.bulk.tensor.2d.shared::<cluster|cta>.global<|.tile>.{_BULK}<1=|.multicast::cluster><|.cta_group::<1|2>><2=|.L2::cache_hint>"
        " [r0], [x0, {r2,r3}], [r1]<1=|, h0><2=|, x1>;",
        f"cp.async.bulk.tensor.<1=1d|3d|4d|5d>.shared::<cluster|cta>.global.tile.{_BULK}<|.cta_group::2>"
        " [r0], [x0, <1=R1|R3|R4|R5>], [r1];",
        f"cp.async.bulk.tensor.3d.shared::<cluster|cta>.global.<1=im2col|im2col::w|im2col::w::128>.{_BULK}<2=|.multicast::cluster>"
        "<|.cta_group::1> [r0], [x0, {r2,r3,r4}], [r1], <1=H1|H2|H2><2=|, h2>;",
        f"cp.async.bulk.tensor.2d.shared::<cluster|cta>.global.tile::gather4.{_BULK}<1=|.multicast::cluster><|.cta_group::2>"
        " [r0], [x0, {r2,r3,r4,r5,r6}], [r1]<1=|, h0>;",
        "cp.async.bulk.tensor.2d.global.shared::cta<|.tile>.bulk_group<1=|.L2::cache_hint> [x0, {r2,r3}], [r0]<1=|, x1>;",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [x0, {r2,r3,r4}], [r0];",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group<1=|.L2::cache_hint> [x0, {r2,r3,r4,r5,r6}], [r0]<1=|, x1>;",
        "cp.async.bulk.prefetch.tensor.2d.L2.global<|.tile> [x0, {r2,r3}];",
        "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [x0, {r2,r3,r4,r5,r6}];",
        "cp.async.bulk.prefetch.tensor.3d.L2.global.<1=im2col|im2col::w|im2col::w::128> [x0, {r2,r3,r4}], <1=H1|H2|H2>;",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.<add|min|max|inc|dec|and|or|xor><|.tile>.bulk_group [x0, {r2,r3}], [r0];",
    ),
    "cluster": (
        "barrier.cluster.arrive<|.release|.relaxed><|.aligned>;",
        "barrier.cluster.wait<|.acquire><|.aligned>;",
        "mapa<.shared::cluster.u32 r10, r0, r1|.u64 x10, x0, r1|.u32 r10, r0, r1|.shared::cluster.u64 x10, x0, r1>;",
        "getctarank<.shared::cluster.u32 r10, r0|.u64 r10, x0|.u32 r10, r0>;",
        "mov.u32 r10, %<cluster_ctarank|cluster_nctarank|clusterid.x|nclusterid.y|cluster_ctaid.z|cluster_nctaid.x|ctaid.x|laneid|smid>;",
        "mov.pred q, %is_explicit_cluster;",
        "mov.<u32|u64> <r10|x10>, %<total_smem_size|dynamic_smem_size|aggr_smem_size|reserved_smem_offset_begin|clock64|globaltimer>;",
        "isspacep.<shared|shared::cta|shared::cluster|global|param> q, x0;",
        "cvta<|.to>.<shared|shared::cta|shared::cluster|global>.u64 x1, x0;",
        f"st.async<|.weak>.shared::cluster.{_BULK}<1=||.v2|.v4|>.<1=b32|u32|b32|f32|b64> [r0], <1=r2|r3|R2|F4|x2>, [r1];",
        "st.async.<mmio.release|release|mmio>.<sys|gpu>.global.<1=u8|u16|u32|b64> [x0], <1=r0|h1|r0|x1>;",
        f"red.async.relaxed.cluster.shared::cluster.{_BULK}.<1=add|min|inc|and|or>.<1=u32|s32|u32|b32|b32> [r0], r2, [r1];",
        "red.async.mmio.release.<sys|gpu>.global.<add|min>.<1=u32|u64> [x0], <1=r0|x1>;",
        "clusterlaunchcontrol.try_cancel.async<|.shared::cta>.mbarrier::complete_tx::bytes<|.multicast::cluster::all>.b128 [r0], [r1];",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 q, B0;",
        "clusterlaunchcontrol.query_cancel.get_first_ctaid<.v4.b32.b128 R4|::<x|y|z>.b32.b128 r10>, B0;",
        "griddepcontrol.<wait|launch_dependents>;",
        "elect.sync <r10|_>|q, <0xffffffff|r1>;",
        ".reqnctapercluster <1|2, 1, 1|8, 1, 1|16, 1, 1|4, 2>",
        ".explicitcluster <|.reqnctapercluster 2, 1, 1>",
        ".maxclusterrank <1|8|16>",
        ".reqntid 128, 1, 1 .reqnctapercluster 2, 1, 1 .blocksareclusters",
        ".maxntid <128|1024> .minnctapersm <1|2>",
        ".reqntid 64",
    ),
    "mbarrier": (
        "mbarrier.<1=init|inval><.shared|.shared::cta>.b64 [r0]<1=, 1|>;",
        f"mbarrier.arrive<|.noComplete><|.release|.relaxed>.{_SCOPE}<.shared|.shared::cta|.shared::cluster>.b64 <x1|_>, [r0]<|, r1>;",
        "mbarrier.arrive<|.noComplete><.shared|.shared::cta>.b64 x1, [r0]<|, r1>;",
        "mbarrier.arrive_drop<|.expect_tx><|.release.cta|.release.cluster><.shared::cta|.shared::cluster>.b64 <x1|_>, [r0]<|, r1>;",
        f"mbarrier.arrive.expect_tx<|.release.{_SCOPE}|.relaxed.{_SCOPE}><.shared::cta|.shared::cluster>.b64 <_|x1>, [r0], 64;",
        f"mbarrier.<expect_tx|complete_tx>.relaxed.{_SCOPE}.shared::<cta|cluster>.b64 [r0], 64;",
        f"mbarrier.<test_wait|try_wait>.parity<|.acquire.{_SCOPE}|.relaxed.{_SCOPE}><.shared|.shared::cta>.b64 q, [r0], r1;",
        "mbarrier.try_wait<|.parity>.shared::cta.b64 q, [r0], <x1|r1><|, 1000>;",
        "mbarrier.pending_count.b64 r1, x1;",
    ),
    "fence": (
        f"fence<|.sc|.acq_rel|.acquire|.release>.{_SCOPE};",
        "fence.<acquire.sync_restrict::shared::cluster|release.sync_restrict::shared::cta>.cluster;",
        "fence.mbarrier_init.release.cluster;",
        "fence.proxy.<alias|async|async.global|async.shared::cta|async.shared::cluster|async.shared>;",
        f"fence.proxy.tensormap::generic.<acquire.{_SCOPE} [x0], 128|release.{_SCOPE}>;",
        "fence.proxy.async::generic.<acquire.sync_restrict::shared::cluster|release.sync_restrict::shared::cta>.cluster;",
        "membar.<cta|gl|sys>;",
    ),
    "memory": (
        f"ld<|.weak|.relaxed.{_SCOPE}|.acquire.{_SCOPE}|.volatile><1=|.global|.shared|.shared::cta|.shared::cluster>"
        ".<2=b8|b16|b32|u32|f32|b64> <2=h10|h10|r10|r10|f10|x10>, [<1=x0|x0|r0|r0|r0>];",
        "ld.mmio.relaxed.sys<|.global>.<b32|u32> r10, [x0];",
        "ld.global<|.nc><|.L1::no_allocate|.L1::evict_last|.L1::evict_first><|.L2::evict_last|.L2::128B>"
        ".<1=v2.b32|v4.f32|v8.b32|v8.f32|v2.b64|v4.b64|v4.u64|v4.b8|v2.b16|v4.f64|v8.u32|v2.b128>"
        " <1=R2|F4|R8|F8|X2|X4|X4|H4|H2|D4|R8|R2>, [x0];",
        "ld.global<|.nc>.L2::cache_hint.<1=v2.b32|v8.b32|v4.b64> <1=R2|R8|X4>, [x0], x1;",
        f"st<|.weak|.relaxed.{_SCOPE}|.release.{_SCOPE}|.volatile><1=|.global|.shared|.shared::cta|.shared::cluster>"
        ".<2=b8|b16|b32|u32|f32|b64> [<1=x0|x0|r0|r0|r0>], <2=h10|h10|r10|r10|f10|x10>;",
        "st<.global|>.<1=v2.b32|v4.f32|v8.b32|v8.f32|v2.b64|v4.b64|v4.s64|v4.f64|v8.s32> [x0], <1=R2|F4|R8|F8|X2|X4|X4|D4|R8>;",
        "st.bulk<|.weak><|.shared::cta|.shared> [<r0|x1>], x0, 0;",
        "ld<1=|.global|.shared>.b128 B0, [<1=x0|x0|r0>];",
        "st<1=|.global|.shared>.b128 [<1=x0|x0|r0>], B0;",
        f"atom<|.relaxed|.acq_rel|.acquire|.release>.{_SCOPE}<1=|.global|.shared|.shared::cta|.shared::cluster>"
        ".<2=add|min|exch|and|inc|add|add|max|add>.<2=u32|s32|b32|b32|u32|u64|f32|s64|f64>"
        " <2=r10|r10|r10|r10|r10|x10|f10|x10|dd10>, [<1=x0|x0|r0|r0|r0>], <2=r1|r1|r1|r1|r1|x1|f1|x1|dd1>;",
        "atom<|.global>.cas.<1=b16|b32|b64|b128> <1=h10|r10|x10|B1>, [x0], <1=h1, h2|r1, r2|x1, x2|B0, B2>;",
        "atom<|.global>.exch.<1=b32|b64|b128> <1=r10|x10|B1>, [x0], <1=r1|x1|B0>;",
        "atom<|.global>.<add|min|max>.noftz.<1=f16|f16x2|bf16|bf16x2> <1=h10|r10|h10|r10>, [x0], <1=h0|r0|h0|r0>;",
        "red<|.global>.<add|min|max>.noftz.<1=f16|f16x2|bf16|bf16x2> [x0], <1=h0|r0|h0|r0>;",
        "red<|.global|.relaxed.gpu.global>.<add|min|max><1=|||.noftz|.noftz|.noftz|.noftz|.noftz>"
        ".<1=v2.f32|v4.f32|v8.f32|v2.f16|v4.f16x2|v8.bf16|v4.bf16x2|v2.bf16> [x0], <1=F2|F4|F8|H2|R4|H8|R4|H2>;",
        "atom<|.global>.<add|min|max><1=|||.noftz|.noftz|.noftz|.noftz>"
        ".<1=v2.f32|v4.f32|v8.f32|v2.f16|v4.f16x2|v8.bf16|v4.bf16x2> <1=F2|F4|F8|H2|R4|H8|R4>, [x0], <1=F2|F4|F8|H2|R4|H8|R4>;",
        f"red<|.relaxed|.release>.{_SCOPE}<1=|.global|.shared|.shared::cluster>"
        ".<2=add|min|and|inc|add|add>.<2=u32|s32|b32|u32|f32|f64> [<1=x0|x0|r0|r0>], <2=r1|r1|r1|r1|f1|dd1>;",
        "multimem.ld_reduce<|.weak|.relaxed.<cta|cluster|gpu|sys>><|.global>.<1=add|add|min|max|add|and>.<1=f32|f64|u32|s32|u64|b32> <1=f10|dd10|r10|r10|x10|r10>, [x0];",
        "multimem.ld_reduce.relaxed.sys.global.<add|min|max><|.acc::f32|.acc::f16>"
        ".<1=v4.f32|v2.f32|v4.f16x2|v8.f16|v4.bf16x2|v8.bf16|v4.e4m3x4|v2.e5m2x4|v8.e5m2> <1=F4|F2|R4|H8|R4|H8|R4|R2|H8>, [x0];",
        "multimem.st<|.weak|.relaxed.sys|.release.gpu><|.global>.<1=f32|v4.f32|v4.f16x2|bf16x2|u32|v2.e4m3x4|b64|e5m2x4> [x0], <1=f0|F4|R4|r0|r0|R2|x1|r0>;",
        "multimem.red<|.relaxed.sys|.release.gpu><|.global>.<1=add|add|min|and|add|add|max>.<1=f32|v4.f32|u32|b32|bf16x2|v4.f16x2|u64> [x0], <1=f0|F4|r0|r0|r0|R4|x1>;",
        "discard<|.global>.L2 [x0], 128;",
        "applypriority<|.global>.L2::evict_normal [x0], 128;",
        "createpolicy.fractional.L2::<evict_last|evict_first|evict_normal|evict_unchanged><|.L2::evict_unchanged>.b64 x0<|, 1.0>;",
        "createpolicy.range<|.global>.L2::evict_last.b64 x0, [x1], 64, 128;",
        "createpolicy.cvt.L2.b64 x0, x1;",
        "cp.async.wait_all;",
    ),
    "cvt": (
        "cvt.<rn|rn|rz>.satfinite<|.relu>.<e4m3x2|e5m2x2|e2m3x2|e3m2x2>.<1=f32|f16x2|bf16x2> h10, <1=f0, f1|r0|r0>;",
        "cvt.<rn|rn|rz>.satfinite<|.relu>.e2m1x2.<1=f32|f16x2|bf16x2> b0, <1=f0, f1|r0|r0>;",
        "cvt.<rz|rp|rn><|.satfinite>.ue8m0x2.<1=f32|bf16x2> h10, <1=f0, f1|r0>;",
        "cvt.rn<|.relu>.<f16x2|bf16x2>.<e4m3x2|e5m2x2|e2m3x2|e3m2x2|ue8m0x2> r10, h0;",
        "cvt.rn<|.relu>.<f16x2|bf16x2>.e2m1x2 r10, b0;",
        "cvt.rs<|.relu><|.satfinite>.<1=e2m1x4|e4m3x4|e5m2x4|e2m3x4|e3m2x4>.f32 <1=h10|r10|r10|r10|r10>, {f0,f1,f2,f3}, r0;",
        "cvt.rs<|.relu><|.satfinite>.<f16x2|bf16x2>.f32 r10, f0, f1, r0;",
        "cvt.<rn|rz|rs><|.relu><|.satfinite>.<f16x2|bf16x2>.f32 r10, f0, f1;",
        "cvt.<rn|rz|rna><|.relu><|.satfinite>.<bf16|f16>.f32 h10, f0;",
        "cvt.<rn|rz|rna><|.relu><|.satfinite>.tf32.f32 r10, f0;",
        "cvt<|.rn|.rni|.rz|.rzi><|.ftz><|.sat>.<1=f32|f16|f64|s32|u32|bf16|u16|s64>.<2=f32|f16|f64|s32|u32|bf16|u64>"
        " <1=f10|h10|dd10|r10|r10|h10|h10|x10>, <2=f0|h0|dd0|r0|r0|h0|x0>;",
        "cvt<.rn|.rz|.rni|.rzi>.<1=bf16|bf16|bf16|bf16|f32|u32|f16>.<1=f16|u32|f64|s8|bf16|bf16|bf16>"
        " <1=h10|h10|h10|h10|f10|r10|h10>, <1=h0|r0|dd0|r0|h0|h0|h0>;",
        "cvt.pack.sat.<u8|s8|u4|s4|u2|u16|s16>.s32<|.b32> r10, r0, r1<|, r2>;",
    ),
    "arithmetic": (
        "<add|sub|mul><|.rn|.rz|.rm><|.ftz>.<1=f32x2|f32|f64> <1=x10, x0, x1|f10, f0, f1|dd10, dd0, dd1>;",
        "fma.<rn|rz><|.ftz><|.sat><|.relu>.<1=f32x2|f32|f16|f16x2|bf16|bf16x2>"
        " <1=x10, x0, x1, x2|f10, f0, f1, f2|h10, h0, h1, h2|r10, r0, r1, r2|h10, h0, h1, h2|r10, r0, r1, r2>;",
        "fma.rn.oob<|.relu>.<1=f16|f16x2|bf16|bf16x2> <1=h10, h0, h1, h2|r10, r0, r1, r2|h10, h0, h1, h2|r10, r0, r1, r2>;",
        "<add|sub><|.rn|.rz><|.sat>.f32.<f16|bf16> f10, h0, f0;",
        "fma.<rn|rz><|.sat>.f32.<f16|bf16> f10, h0, h1, f0;",
        "<add|sub|mul><|.rn><|.ftz><|.sat>.<1=f16|f16x2|bf16|bf16x2> <1=h10, h0, h1|r10, r0, r1|h10, h0, h1|r10, r0, r1>;",
        "<min|max><|.ftz><|.NaN><|.xorsign.abs|.abs>.f32 f10, f0, f1<|, f2>;",
        "<min|max><|.ftz><|.NaN><|.xorsign.abs>.<1=f16|f16x2|bf16|bf16x2> <1=h10, h0, h1|r10, r0, r1|h10, h0, h1|r10, r0, r1>;",
        "<min|max><|.relu>.<1=s32|u32|u16x2|s16x2|s64> <1=r10, r0, r1|r10, r0, r1|r10, r0, r1|r10, r0, r1|x10, x0, x1>;",
        "<neg|abs><|.ftz>.<1=f16|f16x2|bf16|bf16x2|f32> <1=h10, h0|r10, r0|h10, h0|r10, r0|f10, f0>;",
        "<ex2.approx|tanh.approx><|.ftz>.<1=f16|f16x2|bf16|bf16x2|f32> <1=h10, h0|r10, r0|h10, h0|r10, r0|f10, f0>;",
        "add.<u16x2|s16x2|u8x4|s8x4> r10, r0, r1;",
        "<add|sub|min|max|neg>.<u8x4|s8x4><.sat|> r10, r0, r1;",
        "redux.sync.<add|min|max|and|or|xor>.<s32|u32|b32> r10, r0, 0xffffffff;",
        "redux.sync.<min|max><|.abs><|.NaN>.f32 f10, f0, 0xffffffff;",
        "setp.<lt|gtu|eq><|.ftz>.<1=bf16|f16|f32> q, <1=h0, h1|h0, h1|f0, f1>;",
        "activemask.b32 r1;",
        "match.<any|all>.sync.<b32|b64> <r10|r10|p>, <r0|x0>, 0xffffffff;",
        "nanosleep.u32 10;",
        "bmsk.clamp.b32 r1, r2, r3;",
        "szext.wrap.<u32|s32> r1, r2, r3;",
        "dp4a.<u32|s32>.u32 r1, r2, r3, r4;",
        "tanh.approx.f32 f1, f2;",
        "copysign.f32 f1, f2, f3;",
        "cos.approx<|.ftz>.f32 f1, f2;",
        "bar.sync <0|r1>;",
        "barrier<|.cta>.sync<|.aligned> <0|1, 64>;",
        "shfl.sync.bfly.b32 r1, r2, 1, 31, 0xffffffff;",
        "vote.sync.ballot.b32 r1, p, 0xffffffff;",
        "alloca.u64 x1, 64;",
        "stacksave.u64 x1;",
        "pmevent 1;",
        "trap;",
    ),
}


def statements(count: int, seed: int, tries: int = 40) -> Iterator[str]:
    """Different statements, about as many of each kind; fewer than `count` when the grammar is exhausted."""
    chance = random.Random(seed)
    kinds = list(PRODUCTIONS.values())
    seen: set[str] = set()
    for _ in range(count):
        for _ in range(tries):
            statement = expand(chance.choice(chance.choice(kinds)), chance)
            if statement not in seen:
                seen.add(statement)
                yield statement
                break


def expand(template: str, chance: random.Random) -> str:
    """One statement of a template."""
    places: dict[str, float] = {}

    def choose(found: re.Match[str]) -> str:
        label, alternatives = found[1], found[2].split("|")
        if label is None:
            return chance.choice(alternatives)
        place = places.setdefault(label, chance.random())
        return alternatives[int(place * len(alternatives))]

    while _CHOICE.search(template):
        template = _CHOICE.sub(choose, template)
    return _VECTOR.sub(lambda found: _vector(found[1], int(found[2]), chance), template)


def _vector(kind: str, width: int, chance: random.Random) -> str:
    start = chance.choice((16, 24, 32))
    return "{" + ",".join(f"{_PREFIX[kind]}{start + place}" for place in range(width)) + "}"
