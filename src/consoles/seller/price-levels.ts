// For each storefront: its currency, the local price of a Big Mac, and units of the currency per US dollar. Source: The
// Economist, Big Mac index of January 2026 (github.com/TheEconomist/big-mac-data at 669a971c, CC BY 4.0), reduced to
// its last half-year; eu is the euro area.
const LEVELS =
  "ae AED 19 3.673; ar ARS 8000 1445.76; au AUD 8.5 1.49265; az AZN 6.65 1.7025; bh BHD 1.8 0.377; " +
  "br BRL 23.9 5.37035; ca CAD 7.7 1.38925; ch CHF 7.3 0.8036; cl CLP 4790 883.845; cn CNY 25.5 6.9627; " +
  "co COP 22900 3686.72; cr CRC 2990 495; cz CZK 115 20.9274; dk DKK 46 6.44025; eg EGP 125 47.24; " +
  "eu EUR 6.08 0.86192; gb GBP 5.29 0.74708; gt GTQ 33 7.6657; hk HKD 25 7.7974; hn HNL 134 26.48; " +
  "hu HUF 1660 332.335; id IDR 42500 16885; il ILS 20 3.14275; in INR 227 90.295; jo JOD 2.5 0.70785; " +
  "jp JPY 480 158.545; kr KRW 5500 1469.85; kw KWD 1.4 0.30825; lb LBP 480000 89550; md MDL 70 17.11; " +
  "mx MXN 109 17.6755; my MYR 13.75 4.0545; ni NIO 174 36.6243; no NOK 76 10.1125; nz NZD 8.6 1.74155; " +
  "om OMR 1.53 0.385; pe PEN 16.9 3.3601; ph PHP 169 59.475; pk PKR 1080 279.85; pl PLN 22.7 3.63085; " +
  "qa QAR 17 3.641; ro RON 17.45 4.38705; sa SAR 19 3.7501; se SEK 67 9.2299; sg SGD 7.45 1.28845; " +
  "th THB 135 31.395; tr TRY 255 43.1945; tw TWD 78 31.5675; ua UAH 139 43.55; us USD 6.12 1; uy UYU 339 38.705; " +
  "ve VES 1370 338.726; vn VND 76000 26269; za ZAR 54.9 16.3487"

/** The licence requires this attribution wherever the figures are shown. */
export const PRICE_LEVELS = {
  name: "The Economist, Big Mac index",
  licence: "CC BY 4.0",
  asOf: "2026-01-01",
} as const

const EURO_AREA = "at be bg cy de ee es fi fr gr hr ie it lt lu lv mt nl pt si sk".split(" ")

interface PriceLevel {
  currency: string
  bigMac: number
  toDollar: number
}

const BY_STOREFRONT = new Map(
  LEVELS.split("; ").map((row): [string, PriceLevel] => {
    const [country, currency, bigMac, toDollar] = row.split(" ") as [string, string, string, string]
    return [country, { currency, bigMac: Number(bigMac), toDollar: Number(toDollar) }]
  }),
)
const BY_CURRENCY = new Map([...BY_STOREFRONT.values()].map((level) => [level.currency, level]))

/**
 * Returns the units of a currency per US dollar at the time of the index. Null if the index does not include the
 * currency.
 */
export function dollarRate(currency: string): number | null {
  return BY_CURRENCY.get(currency)?.toDollar ?? null
}

/**
 * Returns how many Big Macs a price buys locally. Null if the index does not include the country, or if the price is
 * not in the country's currency.
 */
export function bigMacsFor({
  country,
  currency,
  price,
}: {
  country: string
  currency: string
  price: number
}): number | null {
  const level = BY_STOREFRONT.get(EURO_AREA.includes(country) ? "eu" : country)
  return level?.currency === currency ? price / level.bigMac : null
}
