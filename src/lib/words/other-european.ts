import type { WordLists } from "./entry.ts"

export const OTHER_EUROPEAN: Record<string, WordLists> = {
  el: {
    scripts: ["Greek"],
    stop:
      "αν από αυτά αυτή αυτό για δεν ένα ένας ή η θα και κι κάθε μας μα με μετά μη μην μια μου να ο οι όλα όλες όπως " +
      "όταν ότι που πριν προς πως σας σε σου στα στη στην στις στο στον στους τα της τη την τι τις το τον του τους " +
      "των χωρίς ως είναι",
    filler: "εφαρμογή εφαρμογές καλύτερη καλύτερο καλύτερες καλή νέα νέο νέες τοπ κορυφαία τέλεια",
    free: "δωρεάν τζάμπα",
    deal: "έκπτωση εκπτώσεις προσφορά προσφορές φθηνά φθηνό φτηνά",
  },
  fi: {
    scripts: ["Latin"],
    stop:
      "ei en että hän ja jo joka jos jotka kaikki kanssa koska kuin kuka kun me mikä missä mitä mutta myös ne nyt " +
      "olen olla on ovat sen se sekä sinun sinä sitä te tai tämä tässä voi voit vain",
    filler: "app appi sovellus sovellukset paras parhaat hyvä uusi uudet top mobiili mahtava",
    free: "ilmainen ilmaiset ilmaiseksi ilmaista maksuton maksutta",
    deal: "alennus alennukset ale tarjous tarjoukset halpa halvat edullinen edulliset",
  },
  hu: {
    scripts: ["Latin"],
    letters: "őű",
    stop:
      "a az azt át csak de egy el és ez ezt fel ha hogy hogyan igen is itt ki kell le lehet meg mely már mert mi " +
      "mind minden mint még nagyon ne nem néhány ő ők össze s sem számára után vagy van vele volt",
    filler: "app alkalmazás alkalmazások legjobb jó új újak top mobil szuper remek",
    free: "ingyen ingyenes ingyenesen díjmentes díjmentesen gratis",
    deal: "akció akciós akciók kedvezmény kedvezményes leárazás olcsó olcsón",
  },
  tr: {
    scripts: ["Latin"],
    letters: "ğış",
    stop:
      "ama bir bu çok da daha de değil en gibi hem her ile için kadar ki mi mı ne o olan olarak onun sen senin sizin " +
      "sonra şu tüm var ve veya ya yok",
    filler: "uygulama uygulaması uygulamalar app iyi yeni top mobil harika süper mükemmel en_iyi",
    free: "ücretsiz bedava bedelsiz parasız",
    deal: "indirim indirimli indirimler kampanya kampanyalar ucuz ucuza fırsat fırsatlar",
  },
}
