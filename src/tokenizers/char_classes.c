/* char_classes.c - the classes of characters, as tools/generate/gen_unicode.py has printed them
 * from Unicode 16.0.0. */
#include "tokenizers/chars.h"

/* clang-format off */
const hd__tokenizer_char_table hd__chars_classes = {
    "@@@{AiC}EpFuGTHCIAIqIwIwJ]KEKFKFKFKFKFKFKHKHKHKHKHKHKHKHKHKHKHKHKHKHKHKHKHKHKHKHKHKHKeL|L}L}L}"
    "L}L}L}L}L}L}L}MBMBMBMBMBMBMBMBMBM[MvNbOLPSPzRSR{SjTVTXT\\T\\T^T_TcTcTcTdTfTfTfTfTfTfTfTjTjUBUS"
    "UTUTUTUTUTUUUVUYUYUYUYUYUYUYUYU_UkUkUkUsUsUsUsUuU{VxVyV}WMW^WhXtXvXvXxXxXyXyXyXyXyXyXyXyXyXyXy"
    "XyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyXyX{X{X{X{X}X?X?X?X?X?YAYAYAYAYAYAYA"
    "YCYDYDYDYFYFYGYGYGYGYIYIYIYIYJYJ",
    "@@@g@xBCBDCBChDEElFEGlHWHXJCJDJiJlKJKPKUKXKfKiKlKrK|LAM\\MaO\\OalHlYmHnAnTnqntnyn|wAwTwYw`wiwx"
    "w}x@xYx\\xaxlxqxtxyzHzM?X?]HHHiS@SEU\\UeUhVAXd]A^l^}_LbAdlfBfhfyg@gEmPmUmXnUn\\nyoBoioto}p@qAq"
    "DqIs@tuzX{E{H|B|i~l?Q?X?i?l@AAXAiAlBQBTBaBdDAEdFAFlGAH`HeH|JALhPQShSuSxUAUDUaVHVZW@WEXDXUXtX}Y"
    "DYMZdZi[D[I[L[Y[h[u[x\\y\\|]q]x]}^H^Z_A_H_R_h_q_t`U`l`}aDaMbdbicDcIcPcUc\\cacheeeteye|fZg@gIgT"
    "hUhxh}iHiMjdjikDkIkPkUkhkukxmAmDnAnHnZo@oeohpUptp}qDqMrdrisDsIsPsUshsusxuquxu}vHvZw@wEwJw`xMxP"
    "xUxlxyyDyIyXyeylyqytyyz@zMzTzazlzy{h}A}D~Z?L@U@t@yADAIBdBiChCuCxEaElEuExFAFHFZG@GbG|HAHDHUHtHy"
    "IDIIJdJiKPKUKhKuKxMuM|NANHNZO@OEOLPQPtPyQDQISlSuSxTyT|UQU\\UbU}VHVZWdWiX@XUY\\Yi[H[M[p[u[x\\A"
    "\\\\^Z_@`EcDcIcPdAd\\eBehhEhLhQhThYhlhqjPjUjXj]kDkIkPkukxlAlTlYl\\mBmhmqn@pApDrBsPtAt`tevtxaxt"
    "@ABlC}DBDhEAEXEiExFEFHFUF\\FyGDGUHHHyH|IBIhJALXL]L`LuLxMAOlOqdddidxeAe\\eaedeiexfAhdhihxiAkDkI"
    "kXkak|lAlDlIlXlam\\maqDqIqXqaulvfwtxAy@zA?X?a?x@Eftf}hChEiljAnlnzoEodpAqHq}sHtAuHvAvtvywDxA{P}"
    "]}`}q}t~B~h?B?hABAhBAGdHAHTH]JdJiJlKAOXPAQ|TZUAVxWAWTXAZp[A\\h]B]l`Aa\\bAeThBhhiBihj]j`pUsPtUt"
    "tuBuhxMzDzy{B{i~X@ABPDBDhDuEBEiGxHAHlIAKlKuL@NeNtNyOPOUO\\OiOlPA\\@`AqXqaqxrAtXtatxuAu`ueuhumu"
    "puuuxu}wxxA{T{Y{t{y{||I|T|Y|t}A}P}Y}p~A~t?I?T?Y?t@C@lBcBhB?C@E?F@GBGEGHGRGhG}HBHhIAItPIPLP]P`P"
    "iQPQUQXQeQxRQRTRYR\\RaRdRiRxR}ShSqT@TUThTyT|UBXMXVXhFBIpNjP@wZyP@ANTNmN|OIOPOvOxPARXR]R`RuRxSA"
    "V`V}W@XAY\\ZAZ\\ZaZ|[A[\\[a[|\\A\\\\\\a\\|]A]\\]a]|b}c@@C@D@U@^@`BFBhCECXCbCmCtDEI\\IuJ@JEOlOq"
    "P@PUS@SEX|YJYXZA\\@_A`@bBbhdbe@eFf@hBhhkFl@@A\\@`AHtMAOxPA`taAbBbibpdAf|g}ixjAnZo@q]r@rIxdxm|x"
    "}A}H}M}P}U}t?I@H@M@X@]@l@qBLCBCXDAGPHIKPMBMhOIO`OmOpOuO|PBPiRXSAT\\VAWtXQ[L\\}]B]h^A^T^Y_B_i_|"
    "`AbddAdLdQdpeBehfAg\\giglgyk@kEkHkUk\\kekxlAlDlIlLmmmxnAnloIoTpEp\\pep|qEq\\rAr\\rar|sAuluqvhw"
    "A~L?B?h@AzP{A|\\|m?pPAfxgAmhpAp\\qMq`quqxq}rdris\\sastsys|tAtHtMtTtY{H}MSxUAY@YI\\`_A_pgAgTgYo"
    "tqBqhrEsltEulvY{||I|`|i}@}I}`}i}t@A@p@uB\\BaClCqCxC}DxEAExHAOlP^SPTBWdXjXphAitjAmDnFoppArBrPru"
    "tFtItjtluAwXxAyxzA|P|a}@}F}X@AIxJBJhKAMPMaOpPAR`SAVPWAWlWqXlXqYLYQYXY]ZHZM[H[M[h[m[t\\A_P`As\\"
    "tAuXvAv`xAxXx]{D{I{l@A@X@a@d@iCXC]CdCqCtC}EXEbFAG\\GfHAI|J^K@NAOLOQOXOnPAQZQpRAShXA[`[r[y\\B]@"
    "]J`A`DaAaPaUa`aecXdBddfAgvg|hAivj@lAl`lenTnno@pAsXtAuXubvAwLwbxAyHzf{@@ADdHAKLLAOLOjPARPSBShTB"
    "TiVXV}XXfBg|hAjhkAkHlIlTpAqvr]r`sAtXuFuTwAxH{A|V|p~A?\\@MC`EJG@GEGLGUGXHMK@MANdOBOhPMR\\SZT@TQ"
    "TTT]T`UAWLWYW\\XM[L\\E\\T]B]i]l]q]t^F_T`AaHaMbpc}dDhAh\\hahdhihxh}ixi}jdkAm|oBohpUptp}qDqMrdri"
    "sDsIsPsUshsusxuAuDuuvHxAxhxmxpxyx|yA{X{]{`}E}H}M}P@ACTD]DlEBEhE}FHHAK@LQLXL]L`MBMhXAZ|]a]p`Ac@"
    "dQdTeBehhAjlkakdlBlhmBnPpAqlsBsptAt\\@ABpJANBOLO}P\\PePhPqQPQUQ\\QaS@S}T@TETHUBUhZAZ`Zi]D^E^H^"
    "M^P`A`D`mcLcicleAeDeqhhiuixkAod|A~D?B?h@A@d@iB|DADDEBFtGII@PAP\\PaPhPmSDTYT\\UBUhVAVXV]VdViXhY"
    "aYdZBZhnAoLpIpLpQqDqIsPuBuh{A{D|B}T@Ayh@BF|HATPyA?D@AC@DED\\FA?l@Ad\\PAQxSBSh@AcddAe|fBfhgAk|l"
    "BlhmAnxpAs@tAtPuBuhunvHvMw`wuy@TAVtWBWhdAhBi\\pAtluAuDyMz@~A~H~M~P@A?`@AMXO}Pd?A?P?U?p?u?|@ARL"
    "SISLUAULUUUXVQV`WAop@AFlGAGtHAHdIAIhOBOhlBmPnBoPvBwd@AETEYItIyJ@JIJLJUJ\\JeJtJyKhKmKpKuLPLUPXP"
    "]PlPuQTQYQtQyShSmS|TATTTYT\\TiUDUIjXjalDlImlmqoloqqTqYsTsYt|uAv|wAxdxizdzi|L|Q|p|z@@pAq|rUrlCA"
    "FxPARtS]SxTBThTyT|iAjxlAnpoBohMANpOBOh]A^x_A_F_l~A~\\~a~p~u~|?A?|@ALTL^M@PATPTmTpUBUhGFJpJvK@K"
    "FKTPFRxR~Sx`A`P`Ub@bEbLbQbTb]b`becLcQc`cechcmcpdIdLd]d`dedhdmdpdue@eEeLeQeTe]e`eeehemepeuexe}f"
    "@fEfLfQfTf]flfqgLgQg`gegtgyg|hAhhhmipjEjPjUjhjmkpPBPt?B?h@An@pAshtAAxBAjHkA~D?Aex@Aax@AtluA{@",
    2, 2, 202,
};
