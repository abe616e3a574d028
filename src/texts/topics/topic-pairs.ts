import type { WritingLanguage } from "../languages.ts"
import type { Topic } from "./topics.ts"

/** Two groups of words that must occur near each other, written as a phrase list (checks/phrase-list.ts). */
type WordPair = readonly [one: string, other: string, apart?: number]

/** Words for ads, by language. A sentence that compares ads with the app is a complaint about a broken promise. */
const AD: Readonly<Record<WritingLanguage, string>> = {
  en:
    "ad ads advert adverts advertisement advertisements advertising advertisment advertized advertise add adds " +
    "commercial commercials trailer preview previews",
  de: "werbung werbungen werbe* anzeige",
  tr: "reklam* tanitim*",
  es: "anuncio anuncios publicidad propaganda",
  fr: "pub pubs publicite* annonce annonces",
  pt: "anuncio* propaganda* publicidade",
  ru: "реклам*",
  ja: "広告 CM コマーシャル 宣伝",
  ko: "광고",
  zh: "广告 廣告 宣传 宣傳",
}

/** Words that compare ads with the app. */
const UNLIKE: Readonly<Record<WritingLanguage, string>> = {
  en:
    "different differently differ differs isn't_the_same not_the_same not_similar similar_to not_same same_as " +
    "same_game same_thing nothing_like nothing_to_do not_like not_even_like not_at_all_like isn't_like isnt_like " +
    "wasn't_like not_really_like be_like just_like unlike resemble* dishonest false fake lie lies lied lying liar* " +
    "mislead* inaccurate accurate accurately actual_game actual_gameplay actual_app actually_in real_game reality " +
    "truthful honest deceiv* decept* deceit* promis* portray* depict* nowhere_near no_where_near nowhere_to untrue " +
    "not_true not_what aren't_what isn't_what wasn't_what represent* doesn't/don't/didn't/not_match matches " +
    "match_the match_actual relation reflect* as_good_as shows_the/a/puzzles/levels show_the/a/puzzles/it " +
    "showed_the/a/you showing_the/a shown_in what_you_see aren't_the_game are_not_the_game isn't_the_game seen_in " +
    "saw_in trick* scam* fooled never_get never_see never_got",
  de:
    "anders anderes andere ganz_anderes nicht_wie nicht_so_wie gleich vorkommen vorkommt verspricht versprochen " +
    "suggeriert* gezeigt* zeigt angezeigt vermittelt nichts_zu_tun nichts_mit wenig_mit stimmt entspricht trügt " +
    "täusch* falsch* fake lüge* lügen gelogen irreführend* erwarten erwartet sieht_man gesehen dargestellt " +
    "angepriesen bezug existier* viel_zu_tun wie_in",
  tr:
    "ayni_degil ayni_asla alaka* ilgi* ilgisi benze* farkli baska bambaska gibi gorun* gorup gordu* goster* kandir* " +
    "yalan* uymuyor uyusmuyor olan_oyun kurtar*",
  es: "diferente distinto otro no_es_como nada_que_ver nada_como falso falsa engan* miente* mentira* mismo no_es_igual",
  fr:
    "rien_a_voir pas_le_meme pas_la_meme pareil different* comme_dans comme_sur faux fausse mensong* trompeu* " +
    "ressemble* promet montre*",
  pt: "diferente outro nao_e_como nada_a_ver nada_parecido falso falsa engan* mente mentira* mesmo igual",
  ru: "не_как нет_того другая другой другое обман* врет врут ложь лжив* не_соответств* отлича* показыва* показан*",
  ja: "違 異な ちが 嘘 ウソ うそ 詐欺 騙 ような 様な みたいな 内容と 釣られ つられ 誇大 同じゲーム 期待 見て始め 見てダウン 見てインスト やりたくて",
  ko: "다르 다른 달라 거짓 속았 사기 허위 같은_게임 처럼 완전",
  zh: "不一样 不一樣 不同 不符 虚假 虛假 骗 騙 假的 完全不 根本没有",
}

const GOODS_EN =
  "reward rewards prize prizes coin coins gold_bar gold_bars lives hearts booster boosters boosts bonus bonuses " +
  "gifts perks power_ups power-ups powerups gems chests payouts loot gold_cards"
const LEVEL_EN = "level levels puzzle puzzles stage stages game games challenge challenges"

/**
 * Pairs of words that indicate a topic. One of the words alone is too weak ("gold bars", "fewer"), but both words near
 * each other in one sentence are enough, in either order.
 */
export const TOPIC_PAIRS: Readonly<Record<WritingLanguage, Readonly<Partial<Record<Topic, readonly WordPair[]>>>>> = {
  en: {
    ads: [
      [
        "ad ads advert adverts",
        "popping pop pops keep keeps every minutes seconds long watch watched watching skip close sick_of",
      ],
    ],
    misleading: [
      [AD.en, UNLIKE.en],
      ["thought expected expecting", "game puzzle puzzles king family woman save saving rescue different"],
    ],
    difficulty: [
      [LEVEL_EN, "hard harder hardest tough tougher difficult impossible unfair unbeatable unwinnable challenging", 25],
      [
        "can't cannot can_not can_never couldn't never unable not_able won't_let not_let don't_let doesn't_let " +
          "hardly barely no_chance little_chance no_hope chance_of",
        "win beat pass complete finish advance progress move_on move_forward get_past get_through get_anywhere " +
          "get_further solve clear_the/this/a",
        30,
      ],
      [
        "without unless",
        "win beat pass complete finish advance progress move_on move_forward get_past get_through get_anywhere " +
          "get_further clear solved cleared",
      ],
      [
        "same_level a_level one_level this_level each_level every_level",
        "times tries attempts days weeks months hours forever",
      ],
      ["moves", "enough few fewer short_of one_move limited left not_give don't_give run_out less"],
    ],
    crashes: [
      [
        "won't wont doesn't doesnt don't can't cant cannot can_not not isn't never stopped unable",
        "work working works load loading open opening connect respond responding start let_me_play letting_me_play " +
          "calculating registering",
        12,
      ],
      ["can't cant cannot can_not unable_to won't", "download install update open play_the_game log_in get_in", 8],
      ["keeps keep kept constantly always", "crashing closing stopping freezing kicking glitching loading"],
      ["kicks kicked boots shuts exits throws closes", "me_out me_off itself down by_itself out_of_the_game"],
    ],
    update: [
      [
        "bring_back put_back bring_it_back change_it_back changed_back change_back go_back_to brings_back",
        "the it game old original way please",
      ],
      [
        "new old original previous",
        "music sound sounds layout format look animation animations design_of version feature features rules screen " +
          "system adjustments",
      ],
      [
        "they you_have you've developers makers have recent recently",
        "changed_the changed_it changed_how changed_to change_the made_a_change changes_to made_changes " +
          "recent_changes",
      ],
    ],
    lost_data: [
      [
        "lost lose losing loose loosing gone disappear* vanish* wiped reset resets deleted stole stolen erased",
        "progress my_coins coins gold boosters my_bonuses streak points everything account my_level my_levels all_my " +
          "accumulated purchases profile",
      ],
    ],
    speed: [
      ["takes took take so way", "forever_to_load ages_to_load long_to_load slow"],
      ["animation animations", "slow long wait waiting skip"],
    ],
    notifications: [
      [
        "too_many many constant endless so_many all_the stop million",
        "pop_ups pop-ups popups prompts notifications offers screens windows things_to_click",
      ],
    ],
    rewards: [
      [
        GOODS_EN,
        "less fewer reduce* reducing reduction decrease* shrink* shrunk shrinking shrinkflation stingy give gives " +
          "giving given gave earned earning get_enough receive received didn't_get don't_get removed slashed halved " +
          "cut lower little small smaller worse poor missing worth wait waiting refill regenerate generous unlimited " +
          "ran_out run_out running_out hard_to_get harder_to_get difficult_to_get enough_coins/lives",
        25,
      ],
    ],
    support: [
      [
        "contact contacted contacting emailed email reached_out reaching_out reach_out complained complaint wrote " +
          "messaged reported support developers customer_care",
        "response responses respond responded reply replied replies answer answered said told help helpful helped " +
          "ignored nothing no_one reach unhelpful useless",
      ],
    ],
    ease: [
      ["easy simple hard confusing", "to_play to_use to_navigate to_understand to_learn"],
      ["user", "interface friendly"],
    ],
    design: [
      [
        "graphics graphic visuals artwork animations colors colours scenery art",
        "good great nice beautiful cute amazing bad terrible ugly love like colorful colourful pretty fun excellent " +
          "awesome smooth horrible on_point",
      ],
      ["nice great good beautiful poor game love_the", "design layout", 6],
      ["looks look", "good nice great pretty beautiful ugly cheap horrible"],
    ],
  },
  de: {
    misleading: [[AD.de, UNLIKE.de]],
    difficulty: [
      [
        "level levels lvl leveln stufe stufen rätsel spiel",
        "schwer schwere schweren schwerer schweres schwierig* unmöglich unlösbar unfair",
      ],
      [
        "nicht kaum nie niemals nur ohne unmöglich",
        "weiter weiterkommen weiterkommt weiterzukommen schaffen schafft schaffbar geschafft zu_schaffen gewinnen " +
          "lösbar lösen bewältigen machbar bestehen",
      ],
      ["level lvl", "wochen tage tagen monate hängt hänge stecke festhäng* male versuche versuchen 100x"],
      ["züge zügen zeit", "wenig weniger kurz reicht reichen knapp zeitdruck fehlt"],
    ],
    crashes: [
      ["stürzt hängt friert fliegt bricht", "ab auf ein raus"],
      ["funktioniert funktionieren läuft lädt öffnet startet reagiert lässt_sich", "nicht nicht_mehr nie"],
      ["kann", "nicht_öffnen nicht_starten nicht_laden"],
    ],
    update: [
      ["seit nach", "update updates aktualisierung änderung neuerung"],
      ["wieder", "rückgängig einführen zurück_zu zurückbringen ändern"],
      ["neue neuen neues alte alten altes", "version sound musik funktion feature design"],
    ],
    lost_data: [
      [
        "verloren verschwunden gelöscht futsch zurückgesetzt geklaut abgezogen",
        "alles fortschritt* gold goldbarren booster münzen spielstand serie serien punkte items challenges",
        25,
      ],
    ],
    speed: [
      [
        "animation animationen laden ladezeit spielzüge schnellspiel*",
        "lang lange langsam schneller schnell ewig beschleunig*",
      ],
    ],
    notifications: [["viele ständig ewig andauernd", "popups pop-ups angebote fenster einblendungen"]],
    rewards: [
      [
        "belohnung* münzen coins goldbarren leben geschenke preise truhen gewinne joker " + "karten karte taler barren",
        "weniger bekommt bekomme kriegt wenig warten verdient gekürzt reduziert gibt_es bekommen gewinnt gewinnen " +
          "kommt_nicht zu_wenig geizig keine_neue/neuen",
        25,
      ],
    ],
    boring: [
      ["keine kaum wenig", "abwechslung spieleabwechslung"],
      ["immer", "das_gleiche dasselbe gleiche"],
    ],
    support: [
      [
        "support kundenservice entwickler kontakt mail geschrieben gemeldet",
        "antwort antworten reagiert hilfe hilft keine",
      ],
    ],
    design: [
      [
        "grafik grafiken design gestaltung farben",
        "schön schöne schönes toll tolle gut gute super hässlich schlecht liebevoll",
      ],
    ],
  },
  tr: {
    misleading: [[AD.tr, UNLIKE.tr]],
    difficulty: [
      [
        "bolum* seviye* level oyun* etap*",
        "zor zorlas* imkansiz gecilmiyor gecilmez gecem* gecirm* gecirt* gecmiyor takildi* gecmemeniz gecilem*",
      ],
      [
        "bolum* seviye* level* haftalardir gunlerdir aylardir saatlerce",
        "gecemi* gecemed* gecilm* gecirm* gecirt* gecmek_icin ayni_bolum takili kaldik kaldim ugras* tutuyor*",
      ],
      ["hamle*", "az yetmiyor yetersiz bitiyor sayisi"],
    ],
    crashes: [
      [
        "oyun* uygulama* reklam* bolum*",
        "acilmiyor acilmadi donuyor dondu donup kapaniyor atiyor cokuyor calismiyor yuklenmiyor girilmiyor " +
          "giremiyorum acilamiyor takiliyor kasiyor hata sorun",
      ],
      ["sorun* hata*", "coz* duzelt* gider* var_acil"],
      ["baglan*", "kurulam* hata* sorun* kopu* yok"],
    ],
    update: [
      ["guncelle* guncel yenilik* degis*", "sonra geldi* kotu berbat bozul* eski geri"],
      ["eski eskiden", "hali haline gibi geri getir* daha_iyi guzeldi"],
    ],
    lost_data: [
      [
        "gitti gitmis silindi silinmis kayboldu kaybol* sifirlan* sifira eksildi yok_oldu geri_gelmedi bitiyo",
        "altin* seri* bolum* seviye* puan* ilerleme* can* hesab* guclendirici* odul* her_sey kart*",
      ],
    ],
    speed: [["animasyon* yukle*", "yavas uzun bekle* azalt* sure"]],
    rewards: [
      [
        "altin* odul* hediye* can canlar kart kartlar kartlari koleksiyon* sandik* hamle_hediye",
        "az ver verin verili* veriyor verm* dus* azal* alam* gelm* gelmedi cikmiyor cikm* kazan* istiyorum tamamla* " +
          "bitti sinir* kisit* yetersiz artir* ayni",
      ],
    ],
    support: [["destek yardim mesaj mail", "cevap donus ilgilen* yanit yazdim yok"]],
    design: [["gorsel* grafik* tasarim* cizim*", "guzel harika kotu hos iyi"]],
  },
  es: {
    misleading: [[AD.es, UNLIKE.es]],
    difficulty: [
      ["nivel niveles juego", "dificil dificiles imposible imposibles"],
      ["no nunca", "se_puede_pasar pasar_de_nivel avanzar puedo_pasar"],
    ],
    crashes: [["no", "abre carga funciona deja_jugar conecta inicia"]],
    lost_data: [["perdi borr* desaparec* elimin*", "progreso todo monedas niveles vidas oro cuenta"]],
    rewards: [["premios recompensas monedas vidas oro", "menos mas pocas pocos ganar dan regalan quitaron"]],
    support: [["soporte contacto escrib*", "respuesta responden contestan ayuda"]],
  },
  fr: {
    misleading: [[AD.fr, UNLIKE.fr]],
    difficulty: [
      ["niveau niveaux jeu", "difficile difficiles dur durs impossible impossibles"],
      ["ne impossible sans", "avancer passer_le_niveau reussir gagner terminer"],
    ],
    price: [["achat achete acheter", "obliger oblige faut pour fait"]],
    crashes: [["ne n'", "fonctionne_pas marche_pas ouvre_pas charge_pas s'ouvre_plus fonctionne_plus marche_plus"]],
    lost_data: [["perdu perdre disparu efface* supprime*", "progression tout pieces niveaux vies boosters lingots"]],
    rewards: [["recompenses recompense pieces vies cadeaux lingots", "moins plus_de peu gagner donne reduit"]],
    support: [["support contacte ecrit", "reponse repondent aide"]],
  },
  pt: {
    misleading: [[AD.pt, UNLIKE.pt]],
    difficulty: [
      ["nivel niveis fase fases jogo", "dificil dificeis impossivel impossiveis"],
      ["nao nunca", "passar_de consigo_passar avancar passo_de"],
    ],
    crashes: [["nao", "abre carrega funciona entra inicia conecta"]],
    lost_data: [["perdi sumiu sumiram apag* desaparec*", "progresso tudo moedas niveis vidas ouro conta"]],
    rewards: [["premios recompensas moedas vidas ouro", "menos mais poucas poucos ganhar dao"]],
    support: [["suporte contato", "resposta respondem ajuda"]],
  },
  ru: {
    misleading: [[AD.ru, UNLIKE.ru]],
    difficulty: [
      ["уров*", "сложн* невозможн* тяжел* тяжёл* трудн* не_пройти подкрут* нереальн*"],
      ["не невозможно нельзя", "пройти пройдешь пройдено выиграть"],
      ["ходов", "мало не_хватает меньше больше"],
    ],
    crashes: [["не", "работает открывается запускается грузится загружается заходит"]],
    lost_data: [
      ["пропал* исчез* потерял* удалил* сбросил* обнулил*", "прогресс* монет* уровн* все всё жизн* бонус* золот*"],
    ],
    rewards: [["наград* приз* монет* жизней бонус* подарк*", "мало меньше нет дают больше убрали"]],
    support: [["поддержк*", "ответ* помог* молч*"]],
  },
  ja: {
    ads: [["広告 CM 宣伝", "長 多 しつこ うざ ウザ 気持ち悪 不快 やめ 止め ない 無い なし 流れ 秒 分 毎回"]],
    misleading: [[AD.ja, UNLIKE.ja]],
    difficulty: [
      [
        "クリア 進め 攻略 ステージ レベル 面",
        "難し 難易度 むず ムズ 無理 クリアできん クリア出来ん しにく クリアさせ 運次第 運ゲー しづら なかなか",
      ],
      ["課金 アイテム", "クリアできな クリア出来な 進めな 進まな"],
    ],
    crashes: [
      [
        "アプリ ゲーム 画面 起動 ステージ レベル",
        "落ち 固ま フリーズ 開かな 開けな 動かな 進まなくな 始まら 起動しな 真っ黒 真っ暗 入れな 遊べな",
      ],
    ],
    update: [["アプデ アップデート 更新 バージョン 前 以前 昔", "戻して もどして 良かった よかった 面白かった 改悪"]],
    lost_data: [
      [
        "データ アイテム コイン ゴールド 記録 進捗 レベル ステージ ハート",
        "消え 消失 なくなった 無くなった 戻って 戻され 巻き戻 リセット 失って 没収",
      ],
    ],
    speed: [
      ["スマホ 本体 端末", "熱く 重く"],
      ["早く", "消して 進めて 終わって"],
    ],
    notifications: [["強制 毎回 いちいち 画面", "ポップアップ 表示され 出てきて 見たくない"]],
    rewards: [
      [
        "アイテム コイン ハート ライフ ゴールド 報酬 ブースター 無限 プレゼント",
        "もらえ 貰え 減 増え 少な しょぼ くれない ケチ けち 手に入 ゲット 渡したくない",
      ],
    ],
    boring: [["全然 全く ぜんぜん まったく", "面白くな おもしろくな 楽しくな"]],
    support: [["問い合わせ 問合せ サポート 運営 メール", "返信 返答 返事 対応 回答 連絡"]],
  },
  ko: {
    misleading: [[AD.ko, UNLIKE.ko]],
    difficulty: [["레벨 단계 판 스테이지 게임", "어렵 어려 못_깨 깰_수 안_깨 난이도 불가능"]],
    crashes: [["게임 앱 어플 화면", "안_열 안_켜 튕 멈 꺼 안_들어가 실행"]],
    lost_data: [["데이터 아이템 기록 레벨 골드 하트", "사라 없어 날아 초기화 삭제"]],
    rewards: [["보상 아이템 하트 골드 코인 선물", "안_주 적 줄 더_주 너무 못_받"]],
    support: [["문의 고객센터", "답변 답장 답이 연락"]],
  },
  zh: {
    misleading: [[AD.zh, UNLIKE.zh]],
    difficulty: [
      ["关 關 关卡 關卡", "太难 太難 难 難 过不去 過不去 过不了 過不了"],
      ["步数 步數", "不够 不夠 太少"],
    ],
    crashes: [["游戏 遊戲 软件", "打不开 打不開 进不去 進不去 卡住 闪退 閃退"]],
    lost_data: [["数据 進度 进度 金币 道具", "没了 沒了 丢 消失 不见 清零"]],
    rewards: [["奖励 獎勵 道具 金币 金幣 体力", "少 太少 不给 不給 减"]],
    support: [["客服", "回复 回覆 不理 没人"]],
  },
}
