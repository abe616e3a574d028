import { STOREFRONTS } from "../../lib/storefronts.ts"

// App Store Connect's territory for each storefront, in the order of STOREFRONTS: ISO 3166-1 alpha-3, except for
// Kosovo, which is XKS there and XKX in other lists.
const TERRITORIES =
  "ARE AFG ATG AIA ALB ARM AGO ARG AUT AUS AZE BIH BRB BEL BFA BGR BHR BEN BMU BRN BOL BRA BHS BTN BWA BLR BLZ CAN " +
  "COD COG CHE CIV CHL CMR CHN COL CRI CPV CYP CZE DEU DNK DMA DOM DZA ECU EST EGY ESP FIN FJI FSM FRA GAB GBR GRD " +
  "GEO GHA GMB GRC GTM GNB GUY HKG HND HRV HUN IDN IRL ISR IND IRQ ISL ITA JAM JOR JPN KEN KGZ KHM KNA KOR KWT CYM " +
  "KAZ LAO LBN LCA LKA LBR LTU LUX LVA LBY MAR MDA MNE MDG MKD MLI MMR MNG MAC MRT MSR MLT MUS MDV MWI MEX MYS MOZ " +
  "NAM NER NGA NIC NLD NOR NPL NRU NZL OMN PAN PER PNG PHL PAK POL PRT PLW PRY QAT ROU SRB RUS RWA SAU SLB SYC SWE " +
  "SGP SVN SVK SLE SEN SUR STP SLV SWZ TCA TCD THA TJK TKM TUN TON TUR TTO TWN TZA UKR UGA USA URY UZB VCT VEN VGB " +
  "VNM VUT XKS YEM ZAF ZMB ZWE"

const STOREFRONT_OF = new Map(TERRITORIES.split(" ").map((code, place) => [code, STOREFRONTS[place] as string]))
STOREFRONT_OF.set("XKX", "xk")

/**
 * Returns the storefront of a territory. Undefined for a territory where nothing is sold any more, such as the
 * Netherlands Antilles.
 */
export function storefrontOfTerritory(code: string): string | undefined {
  return STOREFRONT_OF.get(code)
}

const TERRITORY_OF = new Map(TERRITORIES.split(" ").map((code, place) => [STOREFRONTS[place] as string, code]))

export function territoryOfStorefront(storefront: string): string | undefined {
  return TERRITORY_OF.get(storefront)
}
