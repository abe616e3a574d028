import type { WritingLanguage } from "../languages.ts"
import type { Topic } from "./topics.ts"

type TopicWords = Readonly<Record<Topic, string>>

/**
 * Words that indicate a topic, by language. "_" joins the words of a phrase, "/" separates alternative words, "*"
 * matches any letters. Tuned on 552 labelled reviews (test/bench/writing.ts): a word that was wrong as often as right
 * was removed or now needs a second word near it (topic-pairs.ts).
 */
export const TOPIC_WORDS: Readonly<Record<WritingLanguage, TopicWords>> = {
  en: {
    ads:
      "ads advert* commercials an_ad every_ad each_ad ad_after ad_every ad_breaks the_ad an_add adds long_ad ad_long " +
      "ad advertising no_add",
    price:
      "price* pricey expensive subscription* subscribe* paywall pay paying paid money cost refund* in-app_purchase* " +
      "microtransaction* overpriced cash greedy buy buying bought purchas* spend_money charged charge overcharge* " +
      "rip_off rip-off ripoff money_grab* greed* pay-to-win p2w thieves costs_money/too/so/a/real $* £* €* scammed " +
      "cash_grab pay_wall pay2win pay-to-play pay_to_play free_game for_free pay_for microtransactions* extortionate " +
      "costly charges bank_account cash_grabs credit_card isn't_free not_free no_longer_free premium",
    misleading:
      "advertisements_make_it misleading fake false fraud* scammer* clickbait lies lied liars deceptive deceiv* " +
      "bait untrue misrepresent* not_the_game wrong_representation they/you_advertise in_ads/adds " +
      "false/fake/fraudulent/misleading/deceptive/lying_ad/ads/add/adds/advert/adverts/advertisement/" +
      "advertisements/advertising/advertisment " +
      "the_ad/ads/add/adds/advert/adverts/advertisement/advertisements/advertising/advertisment_show/shows/showed/" +
      "lie/lies/said/says/make/makes " +
      "ad/ads/add/adds/advert/adverts/advertisement/advertisements/advertising/advertisment_is/are_fake/lies/" +
      "misleading/false ads_different different_from_game/the_game nothing_like_it/the/what " +
      "not_what_you_see/will/get is/are_not_like_the_game a_lie they/you/ads/adds_lie scam_ad/ads/advert/adverts " +
      "like/than/from/in/match/matching/what/on_the/your/their/that/those/these_ad/ads/add/adds/advert/adverts/" +
      "advertisement/advertisements/advertising/advertisment " +
      "same/exactly/advertised/shown/described/such_as_the/your/their/that/those/these_ad/ads/add/adds/advert/" +
      "adverts/advertisement/advertisements/advertising/advertisment not_as_described " +
      "not_what_it_shows/looks/portray* none_of_what not_how_it_shows/looks what_is/was_shown not_the_same_game " +
      "completely/totally/whole_different_game bait_and_switch photoshopped not_like_it_shows as_advertised " +
      "game/games/levels/level/what's/whats/is/was/are/were/one/always/not/never_advertised " +
      "advertised_as/to/on/in/for/game completely/totally_different_game/from/to/than",
    difficulty:
      "challenging harder impossible difficult difficulty unbeatable unwinnable unsolvable rigged cheats cheating " +
      "stuck unfair not_fair biased too/so/very/super/really/kinda/stupidly/ridiculously/extremely/near_hard " +
      "hard_level/levels hard_to_beat/pass/win/complete can't/cannot/couldn't_pass/beat/complete not_able_to_pass " +
      "able_to_pass no_moves moves_left get_past past_level/this past_this_one never_pass " +
      "pass_any/some/the_level/levels chance_of_winning no_chance_of_winning luck_based pure_luck based_on_luck " +
      "sheer_luck too_easy to_hard so_easy easier algorithm impossible* unpassable won't_win " +
      "make/makes/making/made/forcing/forces_you/me_lose forcing_you_to_lose force_you_to_lose set_up_to_fail/lose " +
      "designed_to_fail",
    crashes:
      "crash* bug bugs buggy glitch* freez* frozen broken does_not_work doesn't_work not_working stopped_working " +
      "won't_open won't_load will_not_load black_screen locking/locks/locked_up " +
      "won't/doesn't/not_let/letting_me_play touch_screen_issue/issues froze network_problem/error " +
      "didn't/doesn't/won't/can't_connect won't_move_on unable_to_download an_error " +
      "error_message/messages/code/occurred technical/tech_problems/problem/issues/issue/difficulties/error " +
      "hasn't/haven't_worked not_respond* force_close* shut_down shuts_down kicks_me out_of_the_app hangs " +
      "won't/wont_play won't/not/didn't/doesn't/wouldn't_let/letting_me_on/in/play even_get_on cannot_get/log_into " +
      "fix_the_bug malfunction* unresponsive lost_connection connection_lost/error server_error bug_fix " +
      "game_breaking errors connectivity reconnecting reconnect collapse collapses internet_connection fails_to " +
      "fail_to please_fix pls_fix fix_this fix_it_please stopped_letting",
    update:
      "update new_version latest_version since_the_last bring_back changed_the_game " +
      "new/newest/latest/recent/last/these_updates few/two/couple_updates used_to_be_able there_used_to_be/have " +
      "the_way_it_was/used how_it_was/used like_it_used_to like_before miss_the/those back_like_before " +
      "updates_ruin/ruined/make/made/have_made since_updating since_updated recent/latest/new_change/changes " +
      "put_back older_version old_version new_format/layout/interface this_change the_change updated_version " +
      "it's/has/have/its_changed changed_everything newest_version updated_the since_it_added reinstate revert_back " +
      "prior_version previous_version",
    lost_data:
      "lost_my lost_all lost_everything progress_is_gone lost_progress my_progress data_loss sync* backup* " +
      "restore/restored_my/purchases/progress entries_are_gone reset_my deleted_my start_over started_over erased " +
      "lose/lost/losing_all_your/my back_to_level back_to_the_start/beginning from_scratch start_from_the_beginning " +
      "start_again_from levels_gone all_gone is_all_gone",
    sign_in:
      "log_in login logged_out log_me_out sign_in sign_up password* verification account_locked can't_log " +
      "access_my_account my_account_back old_account log_back sign_back logging_in signing_in facebook_login " +
      "can't_sign hacked age_verification",
    speed:
      "slow slower laggy lag lags lagging faster battery overheat* loads_fast/quickly/slow long_to_load/open " +
      "loading_time/times very_fast fast_and works_fast",
    notifications:
      "notification* reminder* remind reminds alert alerts pop_ups pop_up popups pop-ups popup windows_to " +
      "too_many_windows opt_out opt-out click_through spam_me spamming too_many_clicks so_many_clicks pop_up_after",
    rewards:
      "prize* award/awards coins_you/won/given won't_give win_live/lives chests_are gold_bars_anymore reward rewards " +
      "rewarded free_moves to_get_lives infinite_lives win_anything daily/no/more/better/fewer_bonus/bonuses " +
      "win/give/given/giving/free/fewer/less/no_gold_bars less/fewer/enough/few/little_coins/lives/gold/gems/rewards " +
      "more_coins/lives/gems/rewards run/running/ran_out_of_lives/hearts no_lives out_of_lives gifts",
    boring:
      "boring repetitive monotonous tedious nothing_new no_fun less_fun waste_of_time time_waste time_waster " +
      "time-waster get/getting/got_board fed_up_of/with_it/playing waste_of_my_time dull snooze snoozefest " +
      "get/gets/getting/got/never/be/becomes/became_bored bored_of/with boredom_sets same_thing/things_over same_old " +
      "same_puzzles",
    support:
      "customer_service support_team tech_support customer_support emailed no_response no_reply never_responded " +
      "dont/don't/doesn't/never/won't_help contact/contacting_support no_help_from customer_care help_center " +
      "help_centre automated_response/responses get_assistance no_help_at no_customer_service",
    ease:
      "easy_to_use simple_to_use user_friendly user-friendly intuitive straightforward easy_to_navigate " +
      "simple_and_easy hard_to_use/navigate/read simple_to_play easy_to_play/understand/learn",
    design:
      "beautiful layout look_and_feel dark_mode font fonts gorgeous visuals splash_and_color graphic graphics* " +
      "artwork",
  },
  de: {
    ads: "werbung* werbevideo* reklame werbespot* anzeigen",
    price:
      "preis* teuer* abo abos abonnement* abzocke geld kosten kostet bezahlen zahlen gezahlt geldmacherei geldgier* " +
      "in-app-käufe überteuert kaufen kauf kaufst käufe zukäufe* gekauft euro geldschneid* investier* pay_to_win " +
      "abzockphase geldeinsatz echtgeld zukauf pay2win geldfalle echtgeld* kaufoptionen kaufangebote* geldmaschine " +
      "gekaufte abzuziehen abgezockt abzocker* bezahlt kostenlos* gratis",
    misleading:
      "irreführend* falsche_werbung betrug betrüg* verarsch* nicht_wie_in_der_werbung lüge* lügen gelogen fake " +
      "täusch* beworben* werbung_verspricht in_der_werbung durch_die_werbung bei_der_werbung " +
      "werbung_zeigt/gezeigt/gezeigte/gezeigten werbung_trügt dieser_werbung anders_als_in/auf/beworben/gezeigt " +
      "nicht_wie_gezeigt/beschrieben ganz_anderes_spiel nicht_das_spiel fake-werbung vorgegaukelt nicht_so_wie " +
      "ohne_bezug",
    difficulty:
      "zu_schwer schwer schwieriger schwierig* unmöglich unschaffbar nicht_zu_schaffen manipul* unfair " +
      "hängen_geblieben hängt_man feststeck* komme/kommt_nicht_weiter nicht_mehr_zu_schaffen nicht_weiter versuche " +
      "nur_mit_zukäufen zu_wenig_züge gewinnen_kann nicht_machbar schwere/schweren/schwerere_level/levels/lvl " +
      "pay2win vorankommen kein_vorankommen nicht_spielbar nicht_lösbar algorithm* reine_glückssache glückssache " +
      "zufall* zu_leicht tagelang wochenlang hänge hängen einfacher leichter herausfordernd* knifflig*",
    crashes:
      "absturz abstürze stürzt abgestürzt bug bugs hängt_sich eingefroren friert funktioniert_nicht geht_nicht " +
      "öffnet_nicht lädt_nicht schwarzer_bildschirm geht_nicht_mehr no_sound stürzen abstürzen kein_ton " +
      "fehlermeldung* technischer/technische/technischen_fehler systemfehler aufhängt hängt_es hängt_das/die/sich " +
      "hängen_geblieben nichts_passiert passiert_nichts technische* verbindungsfehler störung* nix_geht " +
      "geht_nichts/nix neustart rausgeflogen raus_geflogen rausgeworfen kein_weiterspielen nicht_mehr_starten/öffnen",
    update:
      "update* aktualisierung* neue_version neuesten_version neuen_updates änderung* veränderung* verändert regeln " +
      "nicht_mehr_wie_früher alte_musik",
    lost_data:
      "verloren fortschritt* spielstand datenverlust synchron* sicherung wiederherstell* alles_weg " +
      "wurde/wurden/alles_gelöscht von_vorne serie_weg booster_weg von_null auf_null",
    sign_in: "anmelden einloggen login passwort ausgeloggt registrier*",
    speed: "zu_langsam sehr_langsam langsamer ruckel* laggt ladezeit* akku* lädt_ewig",
    notifications:
      "benachrichtigung* mitteilung* erinnerung* erinnert banner popup* pop-up-fenster pop_up* pop-up* aufploppen* " +
      "wegklicken weg_klicken/drücken fenster",
    rewards:
      "belohnung* truhe preise_gewinnen gratisleben keine_goldbarren/truhen/münzen " +
      "weniger_goldbarren/münzen/belohnungen zu_wenig_münzen/coins zuwenig_münzen/coins prämie* leben_begrenzt " +
      "weder_die_leben goldbarren_mehr belohnen gutgeschrieben leben-anfragen",
    boring:
      "langweilig* eintönig* immer_das_gleiche immer_dasselbe öde zeitverschwendung langeweile langwierig* " +
      "abwechslungsreich",
    support: "kundenservice kundendienst support keine_antwort antwortet_nicht kontaktiert",
    ease:
      "einfach_zu_bedienen leicht_zu_bedienen benutzerfreundlich* übersichtlich* intuitiv* unkompliziert* " +
      "sehr_praktisch unübersichtlich*",
    design:
      "design schöne_grafik grafik* gestaltung oberfläche hässlich* schriftart dunkelmodus dunkler_modus " +
      "schön_designen grafik",
  },
  tr: {
    ads: "reklam*",
    price:
      "fiyat* pahalı* abonelik* ücret* para paralı paraya ödeme* satın_al* kazık tl parayı paran parası çekim* çekti " +
      "çekiyorlar soygun* pay_to_win parasız satınalma paragöz* paramı parasını hırsız* bedava ücretsiz kâr " +
      "para_tuzağı",
    misleading:
      "yanıltıcı* aldatıcı* yalan* sahte* kandır* reklamdaki_gibi reklamlardaki_gibi dolandır* alakası_yok " +
      "videolarda_görün* reklamlarda_görün* reklamda_görün* göründüğü_gibi reklamındaki* reklamlardaki reklamdaki " +
      "reklam*_alakası/alakasi fotoğraftaki_gibi fotoğraflardaki göründüğü_gibi_değil tanıtımdaki* tanıtımla*",
    difficulty:
      "çok_zor zorlaş* imkansız* geçilmiyor geçemiyorum hile* zor haksız* geçirmiyor geçmek_için geçemiyo* geçemedim " +
      "az_hamle hamle_çok_az hamle_hakki bölümler_zor tıkandım tıkandık geçilemiyo* takılı_kaldım zor_bölüm* " +
      "geçilmez geçemezsin geçirtm* geçilem* imkanı_yok mümkün_değil kazanamıyo* izin_vermiyor adil_değil " +
      "hamle_sayısı hamleler_az hamle_az şans",
    crashes:
      "çöküyor çöktü hata_ver* hatası_ver* hatalar* donuyor dondu kasıyor açılmıyor çalışmıyor bozuk* atıyor " +
      "siyah_ekran donup donma* donmal* donuyo donuy* bağlantı_hatası kasma yüklemiyor indirmiyor bozulmuş " +
      "oyuna_dönmüyor hatalı açılmadı yüklenmiyor girmiyor girilmiyor görünmüyor takılıyor kapanıyor teknik düzeltin " +
      "bug bugı bugu bugları buglar buglu",
    update:
      "güncelleme* yeni_sürüm güncelledim ilk_hali* değiştiriyorsunuz yeni_güncelle* yeni_sürümde son_sürüm* sürümü " +
      "eskisi_gibi eski_haline eskiden",
    lost_data:
      "silindi* kayboldu sıfırlan* ilerlemem ilerlememi ilerlemelerim verilerim* yedek* senkron* baştan_başla* " +
      "geri_gelmedi sıfırdan_başl* başa_attı/dönd* baştan_oyna* kayboluyor silinmiş gitmiş sıfırdan",
    sign_in:
      "giriş_yap* giremiyorum oturum* şifre* kayıt_ol* hesabıma_gir*/dönemiyorum " +
      "hesabıma/hesabımı_ulaş* hesap*_açıl*",
    speed: "yükleniyor yüklenmiyor pil* şarj* ısınıyor ısınma* yavaşla* animasyon* yavaş",
    notifications: "bildirim* hatırlat*",
    rewards:
      "ödül* hediye* sandık* altın/altınları/altini/altını_ver*/düşür*/vermiyor az_altın can_ver* can_alam* " +
      "can_gelm* can_istiyorum altin_hediye* hediyeleri altın_kart* ödülü ödülleri",
    boring:
      "çok/oyun/artık_sıkıcı sıkıcı_bir/oyun/olmaya sıktı hep_aynı monoton* zaman_kaybı vakit_kaybı keyif_vermiyor " +
      "sıkıcı bıktır* sıkılıyor* sıkıldım sıradan",
    support:
      "müşteri_hizmet* cevap_ver* yanıt_ver* dönüş_yap* destek_olmazsa destek_yok/ekibi/ver*/birimi/olmazsa/hattı " +
      "desteğ* yardım_alamıyor* yardımcı_olmadı* yardım_merkezi ulaşamıyorum muhatap bize_ulaş",
    ease: "kullanımı_kolay kolay_kullan* kullanışlı* basit basitlik pratik*",
    design: "tasarım* grafik* arayüz* görünüm* karanlık_mod* güzel_görün*",
  },
  es: {
    ads: "anuncio anuncios publicidad propaganda",
    price: "precio* caro cara caros suscripci* pagar pago pagos dinero cobran cobrar cuesta estafa_de_dinero compras",
    misleading:
      "engaños* engañan engaño mentira* falso falsa estafa* publicidad_falsa no_es_como fraude " +
      "como_en_el/la/los_anuncio/anuncios/publicidad a_lo_que_anuncian no_es_lo_que",
    difficulty: "muy_difícil difícil dificil difíciles imposible* trampa trampas no_se_puede_pasar injust*",
    crashes:
      "se_cierra se_cuelga error errores fallo fallos falla no_funciona no_abre no_carga se_traba se_congela bug " +
      "bugs pantalla_negra",
    update: "actualizaci* actualizar última_versión nueva_versión",
    lost_data:
      "perdí_todo perdi_todo perdí_mi perdí_mis borró borraron progreso sincroniz* copia_de_seguridad restaurar " +
      "empezar_de_cero",
    sign_in: "iniciar_sesión inicio_de_sesión contraseña* registrar* no_puedo_entrar cuenta_bloqueada",
    speed: "lento lenta lentitud rápido rápida tarda batería se_calienta",
    notifications: "notificaci* recordatorio* avisos",
    rewards: "recompensa* premio premios monedas bonos cofre cofres vidas",
    boring: "aburrid* repetitiv* siempre_lo_mismo monóton* pérdida_de_tiempo",
    support: "soporte atención_al_cliente servicio_al_cliente no_responden no_contestan ayuda_técnica",
    ease: "fácil_de_usar facil_de_usar intuitiv* sencill* práctic* cómod*",
    design: "diseño gráficos interfaz bonit* fe*simo modo_oscuro",
  },
  fr: {
    ads: "pub pubs publicité* annonces",
    price: "prix cher chère chers abonnement* payer payant* argent coûte arnaque_financière achats facturé",
    misleading:
      "mensong* trompeu* fausse_pub arnaque* faux rien_à_voir pas_le_même tromperie publicité_mensongère " +
      "pas_pareil_a/à_la_pub comme_la_pub/publicité fausse_représentation que/dans/vs/versus_la_pub/publicité " +
      "pareil_a/à_la_pub nous_est_présenté dans_les_preview fausse_publicité",
    difficulty:
      "trop_dur trop_difficile difficile* impossible* triche* bloqué pas_faisable injuste* faisable difficiles " +
      "décourageant disproportionné*",
    crashes:
      "plante* plantage* bug bugs bogue* erreur* ne_marche_pas ne_fonctionne_pas ne_s'ouvre se_ferme fige écran_noir " +
      "bogue gros_bogue",
    update: "mise_à_jour mises_à_jour nouvelle_version dernière_version màj maj",
    lost_data:
      "perdu_tout tout_perdu j'ai_perdu progression données_perdues synchronis* sauvegarde* restaurer " +
      "recommencer_à_zéro effacé* on_perd_tout perd_tout perds_tout",
    sign_in: "se_connecter me_connecter mot_de_passe inscription identifiant*",
    speed: "lent lente lenteur* rapide rapidité batterie rame chargement",
    notifications: "notification* rappel rappels alertes",
    rewards: "récompense* pièces coffre* cadeaux",
    boring: "ennuyeu* répétiti* lassant* toujours_pareil monotone* perte_de_temps",
    support:
      "service_client assistance pas_de_réponse aucune_réponse sav le/du/au/votre/leur_support " +
      "service_à_la_clientèle service_clientèle",
    ease: "facile_à_utiliser simple_d'utilisation intuiti* facile_d'utilisation ergonomi* pratique/pratiques",
    design: "graphisme* belle_appli joli* moche* mode_sombre",
  },
  pt: {
    ads: "anúncio* anuncio* propaganda* publicidade",
    price: "preço* caro cara assinatura* pagar pago dinheiro cobra cobram cobrança custa compras",
    misleading:
      "enganos* engana* mentira* falso falsa golpe fraude propaganda_enganosa não_é_como " +
      "como/igual_no/na/ao/à_anúncio/anuncio/propaganda não_é_o_que",
    difficulty: "muito_difícil difícil dificil impossível impossivel trapaça* roubado",
    crashes:
      "trava travando travou fecha_sozinho erro erros bug bugs não_funciona nao_funciona não_abre não_carrega falha " +
      "falhas tela_preta",
    update: "atualização atualizaç* atualizei nova_versão última_versão",
    lost_data: "perdi_tudo perdi_meu perdi_todo progresso sincroniz* backup restaurar apagou sumiu começar_do_zero",
    sign_in: "login entrar_na_conta senha* cadastro iniciar_sessão não_consigo_entrar",
    speed: "lento lenta lentidão rápido rápida demora bateria esquenta",
    notifications: "notificaç* lembrete* avisos",
    rewards: "recompensa* prêmio* prémio* moedas bônus baú* vidas",
    boring: "chato entediante repetitiv* sempre_a_mesma monóton* perda_de_tempo",
    support: "suporte atendimento não_respondem sem_resposta apoio_ao_cliente",
    ease: "fácil_de_usar facil_de_usar intuitiv* simples prátic* pratic*",
    design: "design gráficos interface bonit* visual modo_escuro",
  },
  ru: {
    ads: "реклам*",
    price: "цен* дорог* подписк* плат* деньг* денег стоит покупк* донат*",
    misleading: "обман* врань* врут ложь лжив* развод* не_как_в_рекламе мошенни* фейк* как_в_рекламе из_рекламы",
    difficulty: "сложн* невозможно трудн* не_пройти подкрут* нечестн* невозможно_пройти ходов_мало тяжел*",
    crashes:
      "вылета* ошибк* баг баги глюк* зависа* не_работает не_открывается не_запускается не_грузит* чёрный_экран " +
      "черный_экран",
    update: "обновл* новой_верси* новая_версия",
    lost_data: "пропал* потерял* прогресс* синхрониз* резервн* восстанов* удалил* сначала",
    sign_in: "войти вход логин* пароль пароля регистрац* аккаунт*",
    speed: "медленн* тормоз* лага* быстр* батаре* заряд* долго_грузит*",
    notifications: "уведомлен* напомина*",
    rewards: "наград* приз* бонус* монет* сундук* подар*",
    boring: "скучн* однообразн* одно_и_то_же надоел* трата_времени пустая_трата",
    support: "поддержк* не_отвечают техподдержк* служб*",
    ease: "удобн* прост_в интуитивн* легко_пользоваться понятн*",
    design: "дизайн* график* интерфейс* красив* тёмн* темн*",
  },
  ja: {
    ads: "広告 CM コマーシャル 宣伝",
    price: "課金 値段 高い 有料 料金 サブスク 返金 お金 金額 集金 価格",
    misleading:
      "詐欺 嘘 広告と違う 広告と全然 広告詐欺 騙 誇大 釣り 広告とは違 広告とは全く違 広告とは全然違 広告とは 広告で見 広告で出 広告で目に 騙された 広告の様な 広告のような 広告みたいな 広告と内容 " +
      "広告の内容と 広告とは趣旨 広告を見て始め 広告を見てインスト 広告を見てダウン フェイク 違うゲーム 動画どおり 動画通り 全く違う 思ってたのと 求めてたのと",
    difficulty:
      "難しすぎ 難しい 難易度 クリアできない クリア出来ない 無理ゲー 理不尽 鬼畜 操作され むずい クリア出来 クリアでき 進まない 何十回 ハードすぎ クリア不可 無理ゲ クリア率 手数が 移動回数が 勝てない " +
      "勝てな 運ゲ 運次第 難しく 難しくて 難し過 ムズ むず 簡単すぎ 鬼 簡単にな 簡単す クリアーさせ クリアーでき",
    crashes:
      "落ちる 落ちて 落ちます バグ フリーズ エラー 不具合 固まる 固まって 開けない 起動しない 動かない 真っ暗 プレイできない ゲームできません ゲーム出来ず 接続できません 接続に問題 ゲームができない " +
      "ゲームが出来ない 文字化け スタートしな 強制終了 シャットダウン アプリが終了 終了してしま 通信が できなくな スタートできな 開始せず 起動でき 遊べなくな 表示されな 接続が 直りません 押せな 止まって 止まり",
    update:
      "アップデート アプデ 更新 バージョン 戻してほし 戻して欲し 戻して下さ 戻せ 前の方が 以前のよう 昔の方が 昔と変わ 前と変わ",
    lost_data:
      "データが消え 消えた 消えました 引き継ぎ 同期 バックアップ 復元 データが データ消 戻されて 消えて リセット 没収 全部消え",
    sign_in: "パスワード サインイン アカウント 登録できない ログインできな ログイン出来な",
    speed: "重い 遅い 遅く サクサク 速い 読み込み バッテリー 電池 早くし 遅すぎ 演出 スキップ 時間がかか",
    notifications: "通知 リマインダー お知らせ 告知 ポップアップ ヒントが",
    rewards:
      "報酬 ご褒美 宝箱 もらえない もらえる報酬 アイテムが増 アイテムが減 アイテムがもらえ ケチ 貰えない 貰えません もらえません コインの少な プレゼント 補填",
    boring: "単調 同じこと マンネリ 時間の無駄 面白くな 面白く無 おもしろくな つまらな つまんな 飽き おもんな",
    support: "問い合わせ サポート 返信 返答 問合せ 運営の対応",
    ease: "使いやすい 使い易い わかりやすい 分かりやすい 便利 シンプル",
    design: "デザイン 見やすい 見た目 グラフィック 可愛い かわいい 綺麗 きれい ダークモード キャラクターが",
  },
  ko: {
    ads: "광고",
    price: "가격 비싸 비싼 구독 유료 결제 현질 과금 돈 환불 요금",
    misleading: "사기 거짓 속았 허위 광고와_다르 광고랑_다르 낚시 광고랑_완전 광고처럼 광고와는",
    difficulty: "어려워 어렵 난이도 못_깨 깰_수_없 조작 불가능",
    crashes: "튕겨 튕김 튕기 버그 오류 멈춤 멈춰 에러 안_열려 실행이_안 작동하지 검은_화면",
    update: "업데이트 업뎃 새_버전 최신_버전",
    lost_data: "데이터가 사라졌 사라지 날아갔 동기화 백업 복원 처음부터 초기화",
    sign_in: "로그인 비밀번호 회원가입 계정 접속이",
    speed: "느려 느리 빠르 빨라 렉 로딩 배터리 발열",
    notifications: "알림 알람 리마인더",
    rewards: "보상 보너스 코인 상자 선물 경품 아이템",
    boring: "지루 재미없 똑같 반복 단조 시간_낭비",
    support: "고객센터 문의 답변 고객_지원 운영자 대응",
    ease: "사용하기_쉽 쉽고 편리 편해 간편 직관적 간단",
    design: "디자인 그래픽 예쁘 예뻐 이쁘 화면이 다크_모드 다크모드 인터페이스",
  },
  zh: {
    ads: "广告 廣告",
    price: "价格 太贵 好贵 订阅 付费 收费 充钱 氪金 花钱 退款 會員 会员 價格",
    misleading: "虚假 骗人 欺骗 骗子 诈骗 虛假 騙人 不符 跟广告 和广告 与广告 和廣告 跟廣告",
    difficulty: "太难 好难 難度 难度 过不了 過不了 不可能 作弊 太難",
    crashes: "闪退 閃退 崩溃 卡死 错误 bug 打不开 打不開 不能用 黑屏 报错 死机",
    update: "更新 升级 新版 升級",
    lost_data: "数据丢失 丢失 丢了 不见了 同步 备份 恢复 进度 進度 从头",
    sign_in: "登录 登陆 登入 密码 密碼 注册 账号 帐号",
    speed: "慢 卡顿 卡頓 流畅 流暢 加载 耗电 快速 发热",
    notifications: "通知 提醒 推送",
    rewards: "奖励 獎勵 金币 宝箱 礼包 奖品",
    boring: "无聊 無聊 重复 单调 没意思 腻 浪费时间",
    support: "客服 客户服务 联系 回复 不回",
    ease: "好用 易用 简单 簡單 方便 操作简单 容易",
    design: "设计 設計 界面 介面 画面 畫面 好看 漂亮 美观 深色",
  },
}

/** Phrases in which a word of the topic has another meaning. They are removed before the search. */
export const MEANT_OTHERWISE: Readonly<Partial<Record<WritingLanguage, Readonly<Partial<Record<Topic, string>>>>>> = {
  en: {
    price:
      "apple/google_pay ripoff/rip-off_of rip_off_of crush_ripoff save_your_money waste_your_money who_is/are_paying " +
      "pay_attention",
    difficulty:
      "work/worked/working/try/tried/trying_hard hard_earned hard-earned " +
      "hard_to_say/believe/tell/see/read/understand/find not_hard_to hard_time hard_work",
    crashes: "candy_crash freeze/freezes/freezing/froze_to/ice crashing/crash_out homes_are_broken broken_heart",
    boring: "when/if/whenever/while/you're/i'm/im/are/am/was_bored not_boring never_boring",
    lost_data: "lost_interest lost_my_interest lost_cause lost_count lose/lost/losing_interest lost_my_mind my_mind",
    speed: "fast-paced fast_paced",
    update: "update_my_review update: discover/find/found/finding/listen/hear_new_music",
    ease: "easy_level/levels",
  },
  de: {
    crashes: "candy_crash* crash_saga",
    boring:
      "bei/gegen/vor/wenn/aus/für_langeweile langeweile_zu_vertreiben langeweile_vertreiben die/der/meine_langeweile " +
      "nie/nicht/keine/keinen/niemals_langeweile/langweilig zwischendurch_bei_langeweile",
  },
  tr: { boring: "can_sıkıcı canım_sıkıl* canınız_sıkıl* can_sıkıntısı" },
  ja: { rewards: "景品表示法", lost_data: "すぐに消え すぐ消え 画面が消え" },
}

/** Words for ads that promote the app elsewhere. Such an ad is no complaint about ads within the app. */
export const ADS_ELSEWHERE: Readonly<Partial<Record<WritingLanguage, string>>> = {
  en:
    "ads/adds/ad/advertisements_about/for/of_this/the/your_game/app via/through/from_ads/adds/an_ad/add " +
    "saw/seen/seeing_the/an/your/this_ad/add/ads/adds saw_ads/adds seen_so_many_ads/adds",
  de: "werbung_bei/in_anderen",
}

/**
 * Words for watching ads. A review about a broken promise counts as a review about ads too only if it has one of these
 * words.
 */
export const ADS_SHOWN: Readonly<Record<WritingLanguage, string>> = {
  en:
    "too_many/much so_many/much many_ads no_ads/adds/ad not_any_ads/adds any_ads/adds there_is/are_ads/adds " +
    "having_any without_ads ads/adds_every/after/between/before/during every_ad/ads ad_after/every " +
    "watch/watching/watched_ad/ads/an/the skip close_the interrupt* annoying constant* spam* bombard* stop_the_ads " +
    "so_long keeps_popping keep_popping publicity amount_of sick/tired_of seconds minutes long_ads " +
    "in/on/between_other_games/apps all_the_ads ads_all_the",
  de:
    "zu_viel zu_viele so_viel so_viele ständig dauernd nervt nervig nervige nervende lange_werbung keine_werbung " +
    "ohne_werbung werbung_nach/alle anschauen ansehen sekunden minuten wegdrücken schließen",
  tr:
    "çok_reklam çok_fazla_reklam reklam_çok reklamlar_çok sürekli her_bölüm reklam_izle* reklamsız saniye dakika " +
    "bıktım kapatamıyorum",
  es:
    "demasiados demasiada muchos_anuncios mucha_publicidad sin_anuncios cada_nivel ver_anuncios segundos minutos " +
    "constantes saltar",
  fr:
    "trop_de_pub/pubs/publicité/publicités beaucoup_de_pub/pubs/publicité sans_pub/publicité entre_chaque " +
    "regarder_des secondes minutes sans_arrêt arrêt*",
  pt: "muitos muita_propaganda muito_anúncio sem_anúncios cada_fase assistir segundos minutos toda_hora",
  ru: "много_рекламы без_рекламы постоянно каждый каждого смотреть_рекламу секунд минут надоела",
  ja: "広告が多 広告多 広告ばかり 広告が長 広告長 秒 毎回 しつこい うざい ウザい 頻繁 何度も見",
  ko: "광고가_많 광고_너무 광고만 초_광고 매번 계속",
  zh: "广告太多 太多广告 广告多 没有广告 看广告 秒 每关 一直",
}
