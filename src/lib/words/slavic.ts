import type { WordLists } from "./entry.ts"

export const SLAVIC: Record<string, WordLists> = {
  cs: {
    scripts: ["Latin"],
    letters: "ěřů",
    stop:
      "a aby ale ani až bez být co či do i já jak jako je jeho její jejich jen ještě jsou k kde když které který " +
      "která ke mezi na nad nebo než o od po pod pro před přes při s se si so svůj své tak také tam ten to tu ty u " +
      "už v ve vám vás všechny vy z za ze že",
    filler: "app appka aplikace aplikaci aplikací nejlepší dobrá dobrý nová nový nové top mobilní skvělá skvělý",
    free: "zdarma bezplatná bezplatně bezplatný bezplatné gratis",
    deal: "sleva slevy výprodej levně levná levné levný akce",
  },
  hr: {
    scripts: ["Latin"],
    letters: "ćđ",
    stop:
      "a ako ali bez bi biti da do dok ga i ih ili iz ja je jer još kada kako kao koja koje koji kroz li mi može na " +
      "nad ne nego ni nije o od ona oni ono ova ovaj po pod pri s sa samo se sebe si su sve svi svoje ta te ti to tu " +
      "u uz vam vas već vi vaš vaše za što",
    filler:
      "app aplikacija aplikacije aplikaciju najbolja najbolje najbolji dobra dobar nova novo novi top mobilna odlična",
    free: "besplatno besplatna besplatan besplatne besplatni gratis",
    deal: "popust popusti rasprodaja jeftino jeftina jeftin sniženje akcija",
  },
  pl: {
    scripts: ["Latin"],
    letters: "ąęłńśźż",
    stop:
      "a aby ale albo bez bo by być ci co czy dla do go i ich ile im jak jako je jego jej jest już każdy kiedy która " +
      "które który lub ma może na nad nie niż o od oraz po pod przed przez przy się są swoje ta tak także te tego " +
      "ten to tu twoje twój ty u w we więc wszystkie z za ze że",
    filler:
      "app apka aplikacja aplikacje aplikację najlepsza najlepsze najlepszy dobra dobry nowa nowy nowe top mobilna " +
      "świetna",
    free: "darmowa darmowe darmowy darmo za_darmo bezpłatna bezpłatne bezpłatnie bezpłatny gratis",
    deal: "rabat rabaty promocja promocje wyprzedaż zniżka zniżki tani tania tanie tanio okazja",
  },
  ru: {
    scripts: ["Cyrillic"],
    letters: "ыэёъ",
    stop:
      "а без более бы в вам вас ваш ваши ваше весь во все вы где да для до его ее если есть еще же за и из или им их " +
      "к как когда который которые ли мы на над не него нет но о об он она они от по под при про с свои свой со так " +
      "также то только ты у уже чем что чтобы это я",
    filler:
      "приложение приложения приложений лучшее лучший лучшая лучшие хорошее новый новое новая новые топ мобильное " +
      "классное супер",
    free: "бесплатно бесплатный бесплатная бесплатное бесплатные бесплатных даром",
    deal: "скидка скидки скидок распродажа дешево дёшево дешевый дешевые акция акции выгодно",
  },
  sk: {
    scripts: ["Latin"],
    letters: "ľĺŕôä",
    stop:
      "a aby ako aj ale alebo ani až bez byť by čo do ešte ho i ich je jeho jej k kde keď ktorá ktoré ktorý ku len " +
      "medzi môže na nad nie o od po pod pre pred pri s sa si so svoje sú tak tam tento to ty u už v vám vás všetky " +
      "vo vy z za zo že",
    filler:
      "app aplikácia aplikácie aplikáciu najlepšia najlepšie najlepší dobrá dobrý nová nový nové top mobilná skvelá",
    free: "zadarmo zdarma bezplatná bezplatne bezplatný bezplatné gratis",
    deal: "zľava zľavy výpredaj lacno lacná lacné lacný akcia",
  },
  sl: {
    scripts: ["Latin"],
    letters: "čšž",
    stop:
      "a ali bi bo brez da do ga gre iz in ima je jih jo k kaj kako kar ker ki ko lahko le med mi na nad naj ne ni o " +
      "ob od pa po pod pred pri s sam se si so sta svoj svoje še ta tako te ti to tudi tvoj tvoje v vas vaš vaše ve " +
      "vse z za že",
    filler:
      "app aplikacija aplikacije aplikacijo najboljša najboljše najboljši dobra dober nova novo novi top mobilna " +
      "odlična",
    free: "brezplačno brezplačna brezplačen brezplačne brezplačni zastonj gratis",
    deal: "popust popusti razprodaja poceni ugodno znižanje akcija",
  },
  uk: {
    scripts: ["Cyrillic"],
    letters: "іїєґ",
    stop:
      "а або без би більше в вам вас ваш ваша ваше ваші весь все всі ви від він вона вони де для до є за з зі і із й " +
      "його її їх коли ми на над не немає но о об по під при про та так також те ти то тільки у усі це цей цю чи що " +
      "щоб як який які якщо я",
    filler:
      "додаток додатки застосунок застосунки програма найкращий найкраща найкраще найкращі новий нова нове нові " +
      "топ мобільний супер",
    free: "безкоштовно безкоштовний безкоштовна безкоштовне безкоштовні безплатно задарма",
    deal: "знижка знижки розпродаж дешево дешевий дешеві акція акції вигідно",
  },
}
