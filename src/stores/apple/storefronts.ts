// The number of each storefront, from the public project iSubRip; another public list agrees on all 175. The entries
// omit the prefix 143, which all numbers share.
const IDS =
  "ae481 af610 ag540 ai538 al575 am524 ao564 ar505 at445 au460 az568 ba612 bb541 be446 bf578 bg526 bh559 bj576 bm542 " +
  "bn560 bo556 br503 bs539 bt577 bw525 by565 bz555 ca455 cd613 cg582 ch459 ci527 cl483 cm574 cn465 co501 cr495 cv580 " +
  "cy557 cz489 de443 dk458 dm545 do508 dz563 ec509 ee518 eg516 es454 fi447 fj583 fm591 fr442 ga614 gb444 gd546 ge615 " +
  "gh573 gm584 gr448 gt504 gw585 gy553 hk463 hn510 hr494 hu482 id476 ie449 il491 in467 iq617 is558 it450 jm511 jo528 " +
  "jp462 ke529 kg586 kh579 kn548 kr466 kw493 ky544 kz517 la587 lb497 lc549 lk486 lr588 lt520 lu451 lv519 ly567 ma620 " +
  "md523 me619 mg531 mk530 ml532 mm570 mn592 mo515 mr590 ms547 mt521 mu533 mv488 mw589 mx468 my473 mz593 na594 ne534 " +
  "ng561 ni512 nl452 no457 np484 nr606 nz461 om562 pa485 pe507 pg597 ph474 pk477 pl478 pt453 pw595 py513 qa498 ro487 " +
  "rs500 ru469 rw621 sa479 sb601 sc599 se456 sg464 si499 sk496 sl600 sn535 sr554 st598 sv506 sz602 tc552 td581 th475 " +
  "tj603 tm604 tn536 to608 tr480 tt551 tw470 tz572 ua492 ug537 us441 uy514 uz566 vc550 ve502 vg543 vn471 vu609 xk624 " +
  "ye571 za472 zm622 zw605"

const ID_OF = new Map(IDS.split(" ").map((entry) => [entry.slice(0, 2), Number(`143${entry.slice(2)}`)]))

// Each storefront's default language in Apple's media API (recorded). Storefronts that are not listed use British
// English.
const LANGUAGES: Record<string, string> = {
  "de-CH": "ch",
  "de-DE": "at de",
  "en-AU": "au nz",
  "en-CA": "ca",
  "en-US": "us",
  "es-ES": "es",
  "es-MX": "ar bo cl co cr do ec gt hn mx ni pa pe py sv uy ve",
  "fr-FR": "fr",
  it: "it",
  ja: "jp",
  ko: "kr",
  nl: "nl",
  "pt-BR": "br",
  "pt-PT": "pt",
  ru: "ru",
  sv: "se",
  "zh-Hans-CN": "cn",
  "zh-Hant-HK": "hk mo",
  "zh-Hant-TW": "tw",
}

const LANGUAGE_OF = new Map(
  Object.entries(LANGUAGES).flatMap(([language, codes]) => codes.split(" ").map((code) => [code, language])),
)

interface AppleStorefront {
  /** The number at the start of the header X-Apple-Store-Front. */
  id: number
  /** The storefront's default language as a BCP 47 tag, for Accept-Language. */
  language: string
}

/**
 * Returns a storefront of the App Store by its lower-case two-letter code. Throws RangeError when the code is unknown:
 * Apple would answer with another storefront, and its data would be stored under the wrong code.
 */
export function appleStorefront(code: string): AppleStorefront {
  const id = ID_OF.get(code)
  if (id === undefined) throw new RangeError("the App Store has no such storefront")
  return { id, language: LANGUAGE_OF.get(code) ?? "en-GB" }
}
