import type { WordLists } from "./entry.ts"

export const ROMANCE: Record<string, WordLists> = {
  ca: {
    scripts: ["Latin"],
    letters: "·",
    stop:
      "a al als amb aquest aquesta com d de del dels el els en és entre és i in la les l ho més no o on per però " +
      "pels què que s se seu seva si són teu teva tots tu un una uns us va",
    filler: "app apps aplicació aplicacions millor millors bo bona nou nova noves top mòbil increïble",
    free: "gratis gratuït gratuïta gratuïts gratuïtes de_franc",
    deal: "descompte descomptes oferta ofertes rebaixes barat barata barats",
  },
  es: {
    scripts: ["Latin"],
    letters: "ñ",
    stop:
      "a al algo con como cual cuando de del desde donde el él ella en entre es esta este esto está hay la las le " +
      "les lo los mas más me mi muy no nos o para pero por que qué se según si sí sin sobre son su sus también te " +
      "tiene todo todos tu tú tus un una uno unos y ya",
    filler:
      "app apps aplicación aplicacion aplicaciones mejor mejores bueno buena nuevo nueva nuevos nuevas top móvil " +
      "movil increíble genial",
    free: "gratis gratuito gratuita gratuitos gratuitas sin_costo sin_coste",
    deal: "descuento descuentos oferta ofertas rebajas barato barata baratos baratas ganga",
  },
  fr: {
    scripts: ["Latin"],
    letters: "œ",
    stop:
      "à au aux avec ce ces cette c comme d dans de des du elle en est et être il j je l la le les leur lui ma mais " +
      "me mes mon n ne nos notre nous on ont ou où par pas plus pour qu que qui s sa sans se ses si son sont sur ta " +
      "te tes toi ton tous tout toutes tu un une vos votre vous y",
    filler:
      "app apps appli applis application applications meilleur meilleure meilleurs meilleures bon bonne nouveau " +
      "nouvelle nouveaux top mobile génial super incroyable",
    free: "gratuit gratuite gratuits gratuites gratuitement gratis sans_frais",
    deal: "promo promos promotion soldes remise remises rabais réduction réductions moins_cher pas_cher bon_plan",
  },
  it: {
    scripts: ["Latin"],
    stop:
      "a ad ai al alla alle anche che chi ci come con cosa d da dal dalla degli dei del della delle di dove e è ed " +
      "gli ha hai i il in io l la le lo loro ma mi mio nei nel nella non nostro o ogni per perché più qui se sei si " +
      "sia sono su sul sulla suo ti tra tu tua tue tuo tuoi tutti tutto un una uno vi",
    filler:
      "app applicazione applicazioni migliore migliori buono buona nuovo nuova nuovi nuove top mobile fantastico " +
      "fantastica",
    free: "gratis gratuito gratuita gratuiti gratuite gratuitamente",
    deal: "sconto sconti scontato offerta offerte saldi economico economica economici occasione",
  },
  pt: {
    scripts: ["Latin"],
    letters: "ãõ",
    stop:
      "a ao aos as às com como da das de dela dele do dos e é ela ele em entre essa esse esta este eu foi há isso já " +
      "la mais mas me meu minha muito na não nas no nos nós o os ou para pela pelo por que quem se sem ser seu seus " +
      "só sua suas também te tem todos tu tudo um uma você vocês",
    filler:
      "app apps aplicativo aplicativos aplicação aplicações melhor melhores bom boa novo nova novos novas top " +
      "celular telemóvel incrível",
    free: "grátis gratis gratuito gratuita gratuitos gratuitas gratuitamente de_graça",
    deal: "desconto descontos promoção promoções oferta ofertas barato barata baratos liquidação saldos pechincha",
  },
  ro: {
    scripts: ["Latin"],
    letters: "ăâîșțşţ",
    stop:
      "a acest această ai al ale am ar au ca care ce cel cu cum da dacă de din doar e ea el ei este eu fi fără în " +
      "îți la le lui mai mult mult ne nu o pe pentru prin sa să se și sunt ta tale tau te tu tău un una unde unei " +
      "unui va voi",
    filler: "app aplicație aplicația aplicații bun bună cel_mai_bun cea_mai_bună nou nouă noi top mobil",
    free: "gratis gratuit gratuită gratuite gratuiți",
    deal: "reducere reduceri ofertă oferte ieftin ieftină ieftine promoție promoții",
  },
}
