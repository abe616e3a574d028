// Apple's 175 App Store storefronts (App Store Connect, "App Store localizations and territories"), ISO 3166-1 alpha-2;
// xk is Kosovo's user-assigned code. Google Play's countries are a subset but for a few that no upstream of ours reads.
const CODES =
  "ae af ag ai al am ao ar at au az ba bb be bf bg bh bj bm bn bo br bs bt bw by bz ca cd cg ch ci cl cm cn co cr cv cy " +
  "cz de dk dm do dz ec ee eg es fi fj fm fr ga gb gd ge gh gm gr gt gw gy hk hn hr hu id ie il in iq is it jm jo jp ke " +
  "kg kh kn kr kw ky kz la lb lc lk lr lt lu lv ly ma md me mg mk ml mm mn mo mr ms mt mu mv mw mx my mz na ne ng ni nl " +
  "no np nr nz om pa pe pg ph pk pl pt pw py qa ro rs ru rw sa sb sc se sg si sk sl sn sr st sv sz tc td th tj tm tn to " +
  "tr tt tw tz ua ug us uy uz vc ve vg vn vu xk ye za zm zw"

export const STOREFRONTS: readonly string[] = CODES.split(" ")

const KNOWN = new Set(STOREFRONTS)

export function isStorefront(code: string): boolean {
  return KNOWN.has(code)
}

/** The App Store's genre of all apps: a chart of it is the overall one. */
export const ALL_APPS = "36"

/** The genres of charts in every storefront, by Apple's ids: all apps, and the first level below. */
export const CHART_GENRES: readonly string[] = [
  ALL_APPS,
  "6000", "6001", "6002", "6003", "6004", "6005", "6006", "6007", "6008", "6009", "6010", "6011", "6012", "6013",
  "6014", "6015", "6016", "6017", "6018", "6020", "6021", "6022", "6023", "6024", "6025", "6026", "6027",
] // biome-ignore format: a list to scan

/** A storefront whose charts are followed for themselves, and of which genres. */
export interface MarketStorefront {
  storefront: string
  /** Of CHART_GENRES. */
  genres: readonly string[]
}
