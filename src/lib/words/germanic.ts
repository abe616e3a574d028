import type { WordLists } from "./entry.ts"

export const GERMANIC: Record<string, WordLists> = {
  da: {
    scripts: ["Latin"],
    letters: "æø",
    stop:
      "af alle at de dem den der det din dig du eller en er et for fra har i ikke kan med men nu og også om på sig " +
      "som så til ud ved vi vil af din dine dit",
    filler: "app apps appen bedst bedste god gode ny nye top mobil applikation fantastisk",
    free: "gratis omkostningsfri",
    deal: "rabat tilbud udsalg billig billige billigt nedsat",
  },
  de: {
    scripts: ["Latin"],
    letters: "äöüß",
    stop:
      "aber alle als am an auch auf aus bei bis das dass dein deine deinen deiner dem den der des die dir du durch " +
      "ein eine einem einen einer es für hat ihr ihre im in ist kann mit nach nicht noch nur oder ohne sich sie sind " +
      "so über um und uns unter vom von vor war was wenn wie wir zu zum zur",
    filler:
      "app apps anwendung beste bester bestes besten gut gute neu neue neuer neues top mobil tolle toll super klasse",
    free: "gratis kostenlos kostenlose kostenloser kostenloses kostenlosen kostenfrei kostenfreie umsonst",
    deal: "rabatt rabatte sonderangebot ausverkauf schnäppchen billig billige günstig günstige reduziert sparpreis",
  },
  en: {
    scripts: ["Latin"],
    stop:
      "a about all also an and any are as at be been but by can do for from get has have how if in into is it its " +
      "just more my no not of off on one or our out so than that the their them then there these they this to up was " +
      "we what when where which who will with you your",
    filler:
      "app apps application applications best top new great good cool amazing awesome ultimate greatest perfect " +
      "official mobile",
    free: "free freebie freebies gratis for_free free_of_charge no_cost",
    deal: "sale discount discounts discounted cheap cheapest bargain bargains half_price limited_offer special_offer",
  },
  nl: {
    scripts: ["Latin"],
    letters: "ĳ",
    stop:
      "aan al alle als bij dan dat de deze die dit door een en er geen had heb het hoe ik in is je jij jouw kan kun " +
      "maar met mijn naar niet nog nu of om onder ons ook op over te tot uit uw van veel voor was wat we wel wij " +
      "worden ze zich zijn zo",
    filler: "app apps applicatie beste goed goede nieuw nieuwe top mobiel geweldig geweldige",
    free: "gratis kosteloos kosteloze",
    deal: "korting kortingen aanbieding aanbiedingen uitverkoop goedkoop goedkope goedkoopste",
  },
  no: {
    scripts: ["Latin"],
    letters: "æø",
    stop:
      "alle at av de deg dem den der det din dine du eller en er et for fra har i ikke kan med men nå og også om opp " +
      "på seg som så til ut ved vi vil ditt",
    filler: "app apper appen best beste bra god gode ny nye topp mobil applikasjon fantastisk",
    free: "gratis kostnadsfri",
    deal: "rabatt tilbud salg billig billige nedsatt",
  },
  sv: {
    scripts: ["Latin"],
    letters: "å",
    stop:
      "alla att av de dem den det din dina ditt du eller en er ett för från har i inte kan med men nu och också om " +
      "på sig som så till upp ut var vi vid vill är",
    filler: "app appar appen applikation bäst bästa bra god ny nya topp mobil fantastisk",
    free: "gratis kostnadsfri kostnadsfritt",
    deal: "rabatt rabatter erbjudande rea billig billiga billigt nedsatt",
  },
}
