/* nfc_tables.c - the tables of nfc.h for Unicode 9.0, printed by tools/generate/gen_nfc.py. */
#include "tokenizers/nfc.h"

/* clang-format off */
const hd__tokenizer_char_table hd__nfc_classes = {
    "@@@aBEB{CiCqCyD[D~ENENENETE\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E\\E"
    "\\E\\E\\E\\E\\E\\E\\EdFAFAFAFAFAFAFAFAFAFAFAFAFAFAFAFAFAFAFAFAFCFGFMFMFZFZFyGJGJGLGLGLGLGLGLGL"
    "GLGLGLGLGLGLGLGLGLGLGLGLGPGPGPGPGPGPGPGPGPGPGPGPGPGPGPGPGPGPGPGPGPGRGRGRGRGRGaGaGaGaGkGkGpGp",
    "@@@pCfqWhq[\\qkhqoXqs\\rGJrO\\r_Jrg\\sPAsg\\swftWpt[ft_\\tkftw\\t|@uCfuO\\u_fuchug\\uofusiuwju"
    "?ivCjvKivOfw@@HOfH`@YG\\YKfY[\\Y_fYk^Yo\\YsfZK\\ZcfZk\\ZofZw^Z{dZ?f[@J[DK[HL[LM[PN[TO[XP[\\Q[`"
    "R[dS[lT[pU[tV[x@[|W\\@@\\DX\\HY\\L@\\Sf\\W\\\\X@\\\\R\\`@aCfa`^ad_ah`al@dl[dp\\dt]dx^d|_e@`eDa"
    "eHbeOfeW\\e_fes\\ewfe?\\f@@g@cgD@m[fmt@m?fnO\\nSfnT@n_fnd@nk\\nofnw\\nx@qDdqH@sCfsG\\sKfsS\\sW"
    "fs_\\skfso\\swfs{\\s?ftK\\tOftS\\tWft[\\t_ftc\\tgftl@~of?K\\?Of?P@A[fAh@AofBP@BWfB`@BgfBx@Eg\\"
    "Ep@MSfNH@NO\\NSfN[\\N_fNg\\NkfNw\\O@[OD\\OH]OOfO[\\O_fOg\\OofP@@SpGSt@TtITx@UGfUK\\UOfUT@[pG[t"
    "@\\tI\\x@cpGct@dtIdx@kpGkt@ltIlx@spGst@ttItx@|tI|x@DtIDx@EUTEY[E\\@KpGKt@LtILx@TtITx@\\hI\\l@c"
    "agchIcl@dakdp@kavkh@lazlp@qc\\qh@sW\\sX@s_\\s`@sgXsh@wFAwJBwL@wRDwT@wjBwx@xBBxD@xKfxPIxT@x[fx`"
    "@|[\\|\\@C\\GC`@CdICl@Hw\\Hx@uwfv@@qPIqT@sPIsT@}HI}L@}wf}x@JgdJh@Sg^SkfSo\\Sp@a_fac\\ad@f@IfD@"
    "gWfgt@g?\\h@@kCfkW\\kofkw\\kx@sPGsT@tPItT@vofvs\\vwfwP@zhIzp@~XG~\\@?HI?P@C\\GC`@MCfML@MPAMW\\"
    "MkfMs\\NCfND@NHANd@Nw\\Nx@OSfOT@OcfOh@\\Cf\\K\\\\Of\\k\\\\of\\wj\\{V\\?\\]CJ]Gf_X@_of_si_w\\_{"
    "f_?\\`@@MCfMHAMSfM`AMofMt@NGfNH@NTAN_fNc\\NgfNhANs\\OCfOD@N?fOH@W|IX@@^Cf`@@BkZBodBshBw^B{`C@@"
    "IdHIl@f?fg@@gSfgx@i{fj@@oCfoH@@XI@\\@LPILT@NCfOH@Ro\\Rx@ULIUP@[LG[P@\\@I\\D@kCfkD@kKfkS\\kT@k_"
    "fkd@k{fl@@lGflH@oXIo\\@~tI~x@qxZq|@bCfb_\\b{fc@@_w\\_x@nC\\nD@w[fwl@`w\\`x@`?fa@@ccfcdAck\\cl@"
    "c|Id@@nWfn[\\n\\@DXID\\@G|IH@@KdIKhGKl@PCfPL@SLIST@WLGWP@\\@I\\D@\\hG\\l@cTIcXGc\\@ndGnhInl@sp"
    "Gst@ttItx@v[fvt@wCfwT@DHIDL@DXGD\\@LHILLGLP@[|I\\@G\\D@c|Id@@kXIk\\Gk`@rlIrp@C|ID@@o@AoT@sCfs"
    "\\@IxAI|@VWXV\\AVh@VwbV{XWL@Wo\\XL@XWfXk\\Xp@ZkfZx@dKfdT@@Cf@\\@@cfAd@AofBH@BOfBT@B[fBl@MC\\M"
    "\\@TSfThGTl@",
    3, 8, 124,
};

const hd__nfc_table hd__nfc_pairs = {
    "@C@@CG@CQ@CY@C`@Cg@Cq@Cy@C?@DR@Dh@Dt@Dy@EC@EL@ET@Eh@F`@Fo@GM@G^@Gf@Gt@Gx@H^@Hf@MD@NE@NH@NL@NN@"
    "Nj@OJ@OS@P@@PC@PG@PL@PY@Py@QP@QS@QW@Q\\@Qv@SA@SP@SV@SZ@Sb@Sj@Sx@Xb@[@@[B@[S@di@dq@dt@eX@gK@g\\"
    "@g_@hs@hv@iY@i^@mH@mK@m\\@nT@oJ@qH@s@@sG@sJ@uJ@wZ@w\\@}C@}M@}R@}W@}\\@}i@}s@}u@}x@~A@~S@~]@~b@"
    "~g@~l@~yA@fAlFAlHAlJAlLAlNAlRAl{Al}Am@AmCAx@Az[Az`A|@A|XA|`A}HA}PA}YA}[A}]A}_A}rA}tA}vA}xA}zA}"
    "|A~@A~vA~|A?AA?FA?JA?LA?VA?]A?dA?lA?rA?vA?zA?|BFZBFnBGMBHDBHIBHLBHdBHfBIABIDBIGBIIBI`BIbBImBIt"
    "BIxBJ@BJDBJHBJlBK`BKjBk\\CALCANCAPCARCATCAVCAXCAZCA\\CA^CA`CAbCAeCAgCAiCApCAsCAvCAyCA|CBTCB^CB"
    "lCBnCBpCBrCBtCBvCBxCBzCB|CB~CC@CCBCCECCGCCICCPCCSCCVCCYCC\\CCtCCwCC~Ol]Ol_OljOlxOl~Om@OmCOmFQB"
    "ZQB\\QBkQDnQMKQR{QR~QVz]E^]F{",
    "@@@F@O@U@Z@`@i@o@tAEAYAbAfAlArAxBJBaBcBeBuB{CFCHClCnC|C}C?DBDCDFDMDRDTDVDWDXD[D\\D]D_D`DaDdDfD"
    "hDlDnDtDzEFEHEMENEOEPEQERESE[E]E_E`EaEbEeEfEgEiEkElEoEpEqEsEuExEyE|E}E~E?F@FAFBFCFEFFFGFHFIFJF"
    "KFLFMFNFOFPFQFRFSFTFUFVFXFYHsHtJNJdJjKPKVK^K_K`KaKsKtKuKvKwKxKyLnLsLtLxL{L|MCMHMNMUMWMZM]M^M_M"
    "aMbMeMfMgMhMiMjMkMlMmMnMoMpMuMwMyM{M}M?NCNGNKNLNMNNNONPNQNRNSNTNUNVNWNXNYNZN[N]N_NaNcNeNfNgNhN"
    "iNjNkNlNmNnNoNpNqNrNsNtNuNvNxNzN|N~O@OAOEOFOGOHOUOZO[O]O_OhOiOjOkOmOoOqOrOtO{PA",
    "@AA@AA@AA@AA@AA@AA@AC@AE@AE@AE@AE@AI@AI@AI@AI@AN@AO@AO@AO@AO@AO@AU@AU@AU@AU@AY@Aa@Aa@Aa@Aa@Aa@"
    "Aa@Ac@Ae@Ae@Ae@Ae@Ai@Ai@Ai@Ai@An@Ao@Ao@Ao@Ao@Ao@Au@Au@Au@Au@Ay@Ay@AA@Aa@AA@Aa@AA@Aa@AC@Ac@AC@A"
    "c@AC@Ac@AC@Ac@AD@Ad@AE@Ae@AE@Ae@AE@Ae@AE@Ae@AE@Ae@AG@Ag@AG@Ag@AG@Ag@AG@Ag@AH@Ah@AI@Ai@AI@Ai@AI"
    "@Ai@AI@Ai@AI@AJ@Aj@AK@Ak@AL@Al@AL@Al@AL@Al@AN@An@AN@An@AN@An@AO@Ao@AO@Ao@AO@Ao@AR@Ar@AR@Ar@AR@"
    "Ar@AS@As@AS@As@AS@As@AS@As@AT@At@AT@At@AU@Au@AU@Au@AU@Au@AU@Au@AU@Au@AU@Au@AW@Aw@AY@Ay@AY@AZ@A"
    "z@AZ@Az@AZ@Az@AO@Ao@AU@Au@AA@Aa@AI@Ai@AO@Ao@AU@Au@C\\@C|@C\\@C|@C\\@C|@C\\@C|@CD@Cd@Hf@Hg@CF@C"
    "f@AG@Ag@AK@Ak@AO@Ao@Gj@Gk@Fw@JR@Aj@AG@Ag@AN@An@CE@Ce@CF@Cf@CX@Cx@AA@Aa@AA@Aa@AE@Ae@AE@Ae@AI@Ai"
    "@AI@Ai@AO@Ao@AO@Ao@AR@Ar@AR@Ar@AU@Au@AU@Au@AS@As@AT@At@AH@Ah@AA@Aa@AE@Ae@CV@Cv@CU@Cu@AO@Ao@Hn@"
    "Ho@AY@Ay@LH@Bh@NQ@NU@NW@NY@N_@Ne@Ni@OJ@NY@Ne@Nq@Nu@Nw@Ny@OK@Ny@OE@N?@OE@OI@OR@OR@PU@PU@PS@PF@P"
    "Z@PX@Pc@PX@Px@Pu@Pu@Ps@QV@Pz@Px@QC@Qt@Qu@PV@Pv@PP@Pp@PP@Pp@PU@Pu@SX@SY@PV@Pv@PW@Pw@PX@Px@PX@Px"
    "@P^@P~@Sh@Si@Pm@QM@Pc@QC@Pc@QC@Pc@QC@Pg@QG@Pk@QK@Xg@Xg@YH@Xg@YJ@[U@[A@[R@dh@dp@ds@dU@dV@dW@d\\"
    "@da@db@dk@do@gG@gG@fa@fb@fo@hr@hx@hV@hW@h\\@hk@mG@mG@mG@la@lb@nR@oF@oG@oF@qF@r?@sF@sF@sF@sJ@uF"
    "@uG@uF@wY@wY@w\\@wY@}B@}L@}Q@}V@}[@}@@}q@}q@~r@~s@}q@~R@~\\@~a@~f@~k@~PA@eAlEAlGAlIAlKAlMAlQAl"
    "zAl|Al~Al?AmB@AA@Aa@AB@Ab@AB@Ab@AB@Ab@CG@Cg@AD@Ad@AD@Ad@AD@Ad@AD@Ad@AD@Ad@DR@DS@DR@DS@AE@Ae@AE"
    "@Ae@Hh@Hi@AF@Af@AG@Ag@AH@Ah@AH@Ah@AH@Ah@AH@Ah@AH@Ah@AI@Ai@CO@Co@AK@Ak@AK@Ak@AK@Ak@AL@AlAxvAxw@"
    "AL@Al@AL@Al@AM@Am@AM@Am@AM@Am@AN@An@AN@An@AN@An@AN@An@CU@Cu@CU@Cu@EL@EM@EL@EM@AP@Ap@AP@Ap@AR@A"
    "r@AR@ArAyZAy[@AR@Ar@AS@As@AS@As@EZ@E[@E`@EaAybAyc@AT@At@AT@At@AT@At@AT@At@AU@Au@AU@Au@AU@Au@Eh"
    "@Ei@Ej@Ek@AV@Av@AV@Av@AW@Aw@AW@Aw@AW@Aw@AW@Aw@AW@Aw@AX@Ax@AX@Ax@AY@Ay@AZ@Az@AZ@Az@AZ@Az@Ah@At@"
    "Aw@Ay@E?@AA@Aa@AA@Aa@CB@Cb@CB@Cb@CB@Cb@CB@CbAz`Aza@DB@DC@DB@DC@DB@DC@DB@DCAz`Aza@AE@Ae@AE@Ae@A"
    "E@Ae@CJ@Cj@CJ@Cj@CJ@Cj@CJ@CjAzxAzy@AI@Ai@AI@Ai@AO@Ao@AO@Ao@CT@Ct@CT@Ct@CT@Ct@CT@CtA{LA{M@F`@Fa"
    "@F`@Fa@F`@Fa@F`@Fa@F`@Fa@AU@Au@AU@Au@Fo@Fp@Fo@Fp@Fo@Fp@Fo@Fp@Fo@Fp@AY@Ay@AY@Ay@AY@Ay@AY@Ay@Nq@"
    "NqA|@A|AA|@A|AA|@A|A@NQ@NQA|HA|IA|HA|IA|HA|I@Nu@NuA|PA|QA|PA|Q@NU@NUA|XA|YA|XA|Y@Nw@NwA|`A|aA|"
    "`A|aA|`A|a@NW@NWA|hA|iA|hA|iA|hA|i@Ny@NyA|pA|qA|pA|qA|pA|q@NY@NYA|xA|yA|xA|yA|xA|y@N?@N?A}@A}A"
    "A}@A}A@N_@N_A}HA}IA}HA}I@OE@OEA}PA}QA}PA}QA}PA}Q@NeA}YA}YA}Y@OI@OIA}`A}aA}`A}aA}`A}a@Ni@NiA}hA"
    "}iA}hA}iA}hA}i@Nq@Nu@Nw@Ny@N?@OE@OIA|@A|AA|BA|CA|DA|EA|FA|GA|HA|IA|JA|KA|LA|MA|NA|OA|`A|aA|bA|"
    "cA|dA|eA|fA|gA|hA|iA|jA|kA|lA|mA|nA|oA}`A}aA}bA}cA}dA}eA}fA}gA}hA}iA}jA}kA}lA}mA}nA}o@Nq@NqA}p"
    "@Nq@Nl@NqA~v@NQ@NQ@NQ@NQ@BhA}t@Nw@Nn@NwA?F@NU@NW@NWA~?A~?A~?@Ny@Ny@OJ@Ny@OJ@NY@NY@NYA?~A?~A?~@"
    "OE@OE@OK@OA@OA@OE@OK@Ne@Ne@Ne@Na@BhA}|@OI@ON@OIA?v@N_@Ni@NiBFPBFRBFTBGPBGTBGRBHCBHHBHKBHcBHeBH"
    "|BICBIEBIH@@}BIaBIM@@|@@~BIdBIeBIrBIsBIvBIwBIzBI{BJBBJCBJFBJGBJbBJhBJiBJkBI|BI}BJQBJRBJrBJsBJt"
    "BJuBk]CAKCAMCAOCAQCASCAUCAWCAYCA[CA]CA_CAaCAdCAfCAhCAoCAoCArCArCAuCAuCAxCAxCA{CA{CAFCB]CBkCBmC"
    "BoCBqCBsCBuCBwCByCB{CB}CB?CCACCDCCFCCHCCOCCOCCRCCRCCUCCUCCXCCXCC[CC[CBfCCoCCpCCqCCrCC}@WY@Wr@W"
    "i@WiOmIOmI@WP@WP@WP@WQ@WR@WS@WT@WU@WV@WX@WY@WZ@W[@W\\@W^@W`@Wa@Wc@Wd@Wf@Wg@Wh@Wi@Wj@WU@WQ@W[@W"
    "dQBYQB[QBeQDqQDrQMGQMGQRyQRyQRyQVxQVy]EW]EX]E_]E_]E_]E_]E_]Fy]Fz]F{]F|]F{]F|",
    226,
};

const hd__nfc_table hd__nfc_singles = {
    "@M@@MC@Mt@M~@NGA}qA}sA}uA}wA}yA}{A}}A~{A~~A?IA?KA?SA?[A?cA?kA?nA?yA?{A?}B@@BDfBDjBLiOd@OhPOhRO"
    "hUOh`OhbOheOhjOipo`@",
    "@@@B@C@D@E@F@G@H@I@J@K@L@M@N@O@P@Q@R@S@T@U@W@X@Y@Z@\\@]@_@aDoDpDqD{D|D}D?FCGmPK",
    "@L@@LA@LS@Jy@@{@Bw@Nl@Nm@Nn@No@OL@OM@ON@NF@Ny@NH@NI@NP@NJ@Np@NN@NE@A`@NL@NO@BtB@BB@C@Ni@AK@CEC"
    "@HC@IHqHF[tH{JHsHF{QDxrEOeI~\\I~\\EeQIGQEVGEeHFGvGYiG~EHX?H^zHcxIBOFhBFt[GCYGO^HP}IEjIgqDzBEMu"
    "FlDGH[HXmIx^EuPF?kHWMHedFKIHGXH`_E{JF\\WFujGK|ICND~FEFwEK^FSDFkSGHPG[gH@AHXFHY\\HwoI\\rImoIwzG"
    "bLGe?Gv`HOIILDIy?HkVEc_E|DGq`HA~GIbGcJHsBI[wEcXEqbFhSFwZF|OGtoGxwIYKEKRHBKEG\\EGLGh\\Gv~HOqIYu"
    "Hn@FKOFhBHk~DxyEogF@RGNGGUpELWGc{D~?E~iDxMFsLFUxGtbEOCEa^G\\AHQIHjjFnzH~pFrHFK~HKeFN`GUeDznEEi"
    "EGIFbAGsgHIoHkRIGOEKuEQBEesE{lFWEF?~GdjIVmIijIzWI{NEJ[F[FFmwH}bEytFFPFH@FRZF|cGEIGRIGgJGwtHAoH"
    "|fHSnI@cIMJEHWEJcER}GCHHcBHjjE{IE?uFM{FnnGp~GMuD{dE[yEogEvzF@\\GNrGQiG~ZHAFIHtI[vI]HI`XD~KGfnI"
    "FtIZxFCaDzFECZEonEp?FVYFhBGGNGYBHS|IA|I~MFZHIXnEJIF]{F_sFuAFz\\GPIGUYGakGtPIa^EEmFHnIYxE@kEtYF"
    "wjH|jE~KFEDF`WGNGIZFEHiEPOEqeFXSF]NFbhFseGPFGWbG}yHcOHcaIGLI[bEL?FzzEP]GGPGRXHWzIZcIqWIz_F^WFw"
    "KHGhGkKGl`GrRGK@GBYHmXD{@HLvEHzEHGEzfFKSGsVEnEFt^FZtH|{HaLIYMHfKE{SEE@EW@EaZFYtEG^GLjG[JGd|Ge^"
    "GeeGfOI]VGr~G~}HXRHkxI@xIC}IcoIc|IdhIvtIC^IZwD~nECgEEMEKIEKdEMQEV]EXFEYhEa@EbhEqdEqnFBTFEhFFNF"
    "GrFUOFWbFZQFbEFuwFxZF|bGEnGHkGPbGbQGd~GeIGeHGePGeVGe]GfMGfNGi@GjAGo@GwtGxIGyAG}rH@EHGmHIyHIyHQ"
    "WHdPHfVHlAHlyHsSHtHH~vI@xI[cI_?I`{FAudKnHHXDxfEFuEEhD~@EEEEF@EKGEKzEV]EUUEVYEWbEaZEbsEeDEeTEib"
    "ElhE{RE{YE}iE~mFCXFENFDHFFNFE`FGrFHtFODFP\\FQRFUVFYtF\\WF\\[F]VFmyFnzFuAF{[F{KF|bG@^GEnG^gGHuG"
    "JoGLjGQqGTFGT{GX]GX_G[JG[[G[tG]JG]@GcLGjqGo@Gq{Gu[GwtG|~H@EHMRHOoH]yHeAHfFHfVHj?HkxHkKHlAHk~Hk"
    "mHlyHnJHtHH|xIArIFYIIvIY|I[cI]VI_[I_?I`KI`{IlRI~\\baJbaDcOUCn]D@XD@yeIIesPg{SI}CI~NDx}DxxDyA`D"
    "bD}`D~nD~{E@BEAzEBYECgECOCR^`XzEEMEETEEdEEw`T\\CRyEEgEFM`UKEFWEFdD{LEFlEFuiG_EGuEHCCS_EH{EIFEI"
    "rEIwCTUEKGEKIEKdEKzELEELFELWEMIEMQEMZEMsEM}EM?EM?EM?`hlGApEOJEO_`mcEOkEOqEPFER^EPxEQHEQhERbESv"
    "ETPEUSEUcEVDEVDEVYEVkEVsEWBE\\VEXFE\\WEYQEYtEHGEcnE_NE_tE`ME^KE`rE`qEblaSdEcrEcwEdFEdZEdbEebaZ"
    "ha[jEglEh[EhgEgXEifC[nC[|ElHEl~El~agHEoCEoXEogEosalXEo?EpFE}SEpbC^AEq`EqnEs@ErMawdEuCawfEunEuk"
    "Eu|EwaEwbC`oEw}ExhEx}EyiCabbFCCa|EzpEzsEzvE{JjNRE{~bLqbLqHHAE|bE|bCcGcJxfGZE}bE}kCccE~ZE?ME?WE"
    "?yFBACdzCd\\FBTb[TFCGFEHFELFENFELFEzFFNFFrFFdFFoFG^FGrFGvFHPFH[FI]FJqFKTFMPblLFL}FK|FMhFNCFOdb"
    "oqFPbFOEFNiChnFQiFQ~FR]FQwCilFUOFUlc@JFWcF[xFYIClYFZQClHCkdEFREFUF\\@FZ\\HBmDOYF\\WF\\[F\\aF]^"
    "F]ScOCCmIF_zF^EFaRFbEcQmFbNF`_FdTCn]FeBFfcFgjFjhcZcFk[CpXFlacbgFmTCqNFmrFn_FnzFn{cjMatKckzFqNc"
    "r|Fr?FsMFqgFtVFt~FuwFuAFuiFuxFvEct^FttFxoFynCtsF{KF{Gc{QFwyF}nc}^c~NF?FG@yG@^G@[CvVGAJGA}GAwGB"
    "m`TeGEEdIcGF\\dNkGHhGHuGIPdXHGJ@GJUd\\ud`TGMzGNKCzlGNeCzxCzxGQGGQ\\GQqGREGSJC|[GTddpvGT~drRGUp"
    "bF_GXPd~ad~xeADC?|D@HG[teCseCreDYeDsG\\^G\\_G\\_G]JD@yG^KDAFDBVeP]GaNGbLGcLDCceXfGeVeZZe[EGfOG"
    "gkDDoGi@GiJGiOee|ejgejgGknDHBenkGoFGoIDHger@GsRDJ`GshGscGt@e~FGucDLAGwGGxBGyEDLtfHhfIGDMYfKYG}"
    "zfL~G~UG?zH@EfSZfTcHA`fVhHApcM_DOUHBrHDCDPKHD~Ejuf^gf^ucNScN\\HHAHHDH~^DQkHJQHJKHJ]EJsHJqHJsHJ"
    "}HKffl|HKeHL]HMcHNmHLcHN}HOgHQWHMSHOJHOLHO\\fpvfukfsUDTkHSqHSsHTVgOJHUdf|lDU]DUaf~qgCRDUkHYPHY"
    "\\HYgHYiHZiHZHH\\NH[bH]yH\\hH]kH^FDWWH_aH`ADWyHa`HacgYgHcWHc^DXuHczCR{gbngefDZ~D[GHj`HkmHnJHqU"
    "grhHrkHsAHt[Huwg|o``DHwKHv|Hwp`c^H{TH|xhWRhWmIBTICqIDQh\\nID[IHxIKWIKXII|IOyIPUhozIVKDfUIVwhuw"
    "DgfI[CEvrI\\ciEEiHZDinDivI_`iPJDjriRVI`KI`KI`iiVvIcbDlsIdiIfgIgBIg~DoNilpIlRIq@Is}DsNDsmIugjCN"
    "DsxjDEjHNjJQIz{DuVI{yI{~I|EI|OI|VI|{jX@",
    38,
};

const char hd__nfc_second[] =
    "#$%&*,8#$%*#$%*&#$%&*#$%*$#$%&*,8#$%*#$%*&#$%&*#$%*$*''((99$$%%))....''(())99..%%(())88%%&&''("
    "(99)%%88$$88..$$88..''((--$$88..$$%%88..88..&&''((,,--99%%%%*$$))..3333........''$$..##''''''."
    "...99''...$$##$$$$$$//00//00//00//00//00//007777..))88''''))''''c$$$$$$$$$**$$$$$**$$$$*#*$*$#"
    "(((#*$*$#(//((((**((******''********''**--****BCCDCCCCEEEmmmmmmmmFGnnnooooooIHJppLKKLMOOPNOQQR"
    "STSUuuuuutqrsssuuuuutVWWWWWWWWWWW66))44==$$))44==88::##$$::<<(())''))44**88;;<<$$$$44==44''==:"
    ":$$))44))44==::$$**##$$$$))))44''==))44))))))))44==::55<<::$$**&&44##$$**))44))**))%%44===*,,)"
    "44++$$##++&&%%$$##++&&((44++&&$$##++&&%%++4444++$$##++&&%%$$##++&&4444++$$##++&&44##44++&&12##"
    "$$@@12##$$@@12##$$12##$$12##$$@@12##$$@@12##$$@@12##$$@@12##$$12##$$12##$$@@2#$@12##$$@@12##$$"
    "@@#######AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA('AAA@A('#A@AAA@A##A#$@('#@@('##$@('#"
    "12@@('#2#AAA@A##A>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>dXXXXXXXXXXXXXXXXYXYXYXYXYXXXXXXX"
    "XXXXXXXXXXXYXYXYXYXYXXXXXXefklklfgiiiiiiiiiiiiiiiiiiiiiihjjjZZZ[[]^`_abbvvwxyz{vvwwxx";

const char hd__nfc_seconds[] =
    "@L@@LA@LB@LC@LD@LF@LG@LH@LI@LJ@LK@LL@LO@LQ@LS@LT@L[@Lc@Ld@Le@Lf@Lg@Lh@Lm@Ln@Lp@Lq@Lx@MB@MB@ME@"
    "YS@YT@YU@d|@f~@gW@l~@mV@mW@n~@oW@qV@sB@sU@sV@t~@uW@wJ@wO@w_A@nAluCBYCBZQBzQDgQL~QL~QMWQRpQRzQR"
    "}QVo@LA@Lx@Vt@Vw@Vx@Vy@V|@V?@WA@WB@d|@f|@h|@l|@}r@}t@~@@~u@~w]Ee]En]Eo]Ep]Eq]Er";

const int hd__nfc_composing = 64;
