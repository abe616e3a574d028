// Apple's 175 App Store storefronts (App Store Connect, "App Store localizations and territories"), ISO 3166-1 alpha-2;
// xk is Kosovo's user-assigned code.
const APP_STORE =
  "ae af ag ai al am ao ar at au az ba bb be bf bg bh bj bm bn bo br bs bt bw by bz ca cd cg ch ci cl cm cn co cr " +
  "cv cy cz de dk dm do dz ec ee eg es fi fj fm fr ga gb gd ge gh gm gr gt gw gy hk hn hr hu id ie il in iq is it " +
  "jm jo jp ke kg kh kn kr kw ky kz la lb lc lk lr lt lu lv ly ma md me mg mk ml mm mn mo mr ms mt mu mv mw mx my " +
  "mz na ne ng ni nl no np nr nz om pa pe pg ph pk pl pt pw py qa ro rs ru rw sa sb sc se sg si sk sl sn sr st sv " +
  "sz tc td th tj tm tn to tr tt tw tz ua ug us uy uz vc ve vg vn vu xk ye za zm zw"

// Places with Google Play but without an App Store storefront. The Play Console names some countries and serves all
// others as "rest of world". The list therefore has every inhabited place of ISO 3166-1 except North Korea and Syria,
// where there is no store. In Cuba and Iran, there are only free apps. Source: mozilla-mobile/FirefoxLite #4578 and
// #4579, which list twenty places of the rest of the world, Guam and Tokelau among them.
const PLAY_ALONE =
  "ad as aw ax bd bi bl bq cc cf ck cu cw cx dj eh er et fk fo gf gg gi gl gn gp gq gu ht im io ir je ki km li ls " +
  "mc mf mh mp mq nc nf nu pf pm pn pr ps re sd sh sj sm so ss sx tg tk tl tv va vi wf ws yt"

// Google Play is blocked in mainland China and has no store there.
const APP_STORE_ALONE = ["cn"]

/** Storefronts of the App Store. */
export const STOREFRONTS: readonly string[] = APP_STORE.split(" ")

const APP_STORE_CODES = new Set(STOREFRONTS)
const PLAY_CODES = new Set([...STOREFRONTS.filter((code) => !APP_STORE_ALONE.includes(code)), ...PLAY_ALONE.split(" ")])

/** Storefronts of either store, sorted. */
export const ALL_STOREFRONTS: readonly string[] = [...new Set([...APP_STORE_CODES, ...PLAY_CODES])].sort()

const ALL_CODES = new Set(ALL_STOREFRONTS)

/** Returns whether a store has the storefront. Without a platform: whether either store has it. */
export function isStorefront(code: string, platform?: "ios" | "android"): boolean {
  if (platform === undefined) return ALL_CODES.has(code)
  return (platform === "ios" ? APP_STORE_CODES : PLAY_CODES).has(code)
}

/** Explains why a valid storefront exists in none of these stores. Null if one of them has it. */
export function otherStoreProblem(code: string, platforms: readonly ("ios" | "android")[]): string | null {
  if (!isStorefront(code) || platforms.some((platform) => isStorefront(code, platform))) return null
  return isStorefront(code, "ios")
    ? `${code} is a storefront of the App Store only. Use another country.`
    : `${code} is a storefront of Google Play only. Use another country.`
}

/** The App Store's genre of all apps. Its chart is the overall one. */
export const ALL_APPS = "36"

/** The genres with charts in every storefront, by Apple's ids: all apps, and the first level below. */
export const CHART_GENRES: readonly string[] = [
  ALL_APPS,
  "6000",
  "6001",
  "6002",
  "6003",
  "6004",
  "6005",
  "6006",
  "6007",
  "6008",
  "6009",
  "6010",
  "6011",
  "6012",
  "6013",
  "6014",
  "6015",
  "6016",
  "6017",
  "6018",
  "6020",
  "6021",
  "6022",
  "6023",
  "6024",
  "6025",
  "6026",
  "6027",
]

/** A storefront whose charts are read for the market data, and the genres of those charts. */
export interface MarketStorefront {
  storefront: string
  /** Ids of CHART_GENRES. */
  genres: readonly string[]
}
