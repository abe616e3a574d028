/**
 * Ordinary words that are also names of apps. Collected by hand from app names of many categories. A word that is
 * missing here is still detected if answers write it in small letters (app-names.ts).
 */
const WORDS = `
able acorns act action active add air alarm albert album alarm alto amaze anchor angel apex apple arc arcade arrow art
ask atlas atom audible aura bake balance balloon band bank bar base basket bay beach beam bear beat bed bee bell best
better big bike bill bird bit bite blend blink block bloom blue board boat body bold bolt bond book boost border
bounce bowl box brain brave bread breath breathe brick bridge bright broom brush bubble buddy budget bug build bump
burn butter button cake calendar call calm camera canvas captain car card care cargo cart cash cast cat catch chain
chalk chance change charge chat check chef chess chime circle city classic clean clear clever click cliff clip clock
cloud clover club clue coach coast code coffee coin color column comet common compass cook copilot coral core count
couple course craft crane crash craft cream credit crew crop cross crown cube current curve cut daily dance dash dave
dawn day deal deck deed deep deliver depot context dial diary diet dig direct discord dish dog door dot down dragon draw
dream dress drift drink drive drop drops drum dust eagle ear earth east easy eat echo edge edit editor egg elastic
elevate elevator ember emerald empower engine enjoy envelope evolve expense express eye fabulous face factor fair
faith family farm fast faster feather feed feel field file film finch find fine fire fish fit five flame flash flex
flick flight float flow flower fly focus fold food force forest fork form forward fox frame free fresh friend frog
front fuel full fun galaxy game garden gas gate gather gem genius giant gift glass globe glow go goal gold good grain
graph grass green grid ground grow guard guide habit halo hammer hand happy harbor harvest health heart heat hello
hero hike hill hinge hive home honey hood hook hop hope horizon horse hour house hub human hunter ice idea impact
index infinite ink insight inspire instant island ivy jar jet join journal journey joy juice jump jungle keep key kind
king kitchen kite knot ladder lake lamp land lasso later launch layer leaf league leap learn ledger lens letter level
library life lift light lime line link lion list listen live lock loft log loop lotus love luna lunch lyft machine
magic magnet mail map maps marble mark market master match math meal measure meet meetup melody memo memory mercury
message messenger metal meter mind mint minute mirror mix mobile mode moment monarch money monitor monkey month mood
moon more morning motion mountain move mural muse music name nature nest net news next night nine noble node noise
north note notes notion now number oak ocean octopus odyssey offer office one open opal orange orbit order organic
origin otter outlook owl pace pack page paint pair palette panda paper park party pass path pause pay peak pear pearl
peer pen pencil people pepper perfect phoenix phone photo photos piano picture pigment pilot pin pine pinch planet
plan planner plant plate play player plum plus pocket podcasts poem point polar pomelo pond pool pop port post pot
power practice press price prime print prism private pro project prompt proof public pulse pump puzzle quest quick
quiet quote rabbit race radar radio rain raise range rapid raven ray reach read reader ready real recipe record red
reflect reflectly relax relay release relive remember reminder reminders rent replay rest retro reward rhythm ride
ring rise river road roam robin rock rocket roll room root rose round route royal rule run runner safe sage sail salt
sand save scale scan scanner scene school science scope score scout screen scroll sea search season seat seed send
sense series serve set seven shadow shape share sheet shelf shell shift shine ship shop shot shout show shower sign
signal silk silver simple simply six sketch skill sky slack sleep slice slide slope slow smart smile snap snow social
soda sound soul sound source space spark speak spell spend spin spirit split splash spoon sport spot spread spring
square stack stage stamp star starling start stash station status steady steam step steps stocks stone stop store
storm story stoic strand straw streak streaks stream street stretch string stripe strong studio study style sugar
summit sun super supper surf swan sweat sweep sweet swift swim swing switch sync table tag tail tail talk tally tandem
tap tape target task tasks taste tea teach team teams telegram temple ten tent term terra test text thing things think
thread threads thrive tick ticket tide tiger tile time timer tiny tip toast today toggle token tone tool top torch
touch tour tower town toy trace track tracker trade trail train transit translate travel treasure tree trend tribe
trip true trust tune turn tutor twelve twist two unfold union unit unity update upside upward usual valley value vault
velvet venture verse vibe view village vine vision vista vital vivid voice volt vote voyage walk wall wallet watch
water wave way weather web week whale wheel whisper wild wind window wing winner wire wise wish wolf wonder wood word
words work world wrap write yard year yellow yes yoga young zen zero zone zoom angebot bank bilder blick blitz brief
bunt danke eule fokus freude freund garten geld gut heft herz himmel kalender karte klang klar kompass küche laut
leben leicht licht liste luft merkur mut natur notizen reise ruhe sonne sparen spiel sprache stern stille tag tafel
traum wald weg welle welt wetter wort zeit ziel zug amigo banco calma camino casa ciudad cuenta diario dinero día
estrella fuerza hoja juego libro luz luna mapa mente mundo nube puente paz playa reloj río sol tiempo vida voz ami
bonjour calme carnet chemin ciel clair coeur cuisine etoile jardin jour liberte livre lumiere lune maison monde note
nuage petit bambou plume rêve route soleil temps vie voix amore bella calma casa cielo cuore forza gioco luce luna
mare mondo nota sole stella tempo vita voce agora amigo banco caderno calma casa céu conta dinheiro jogo luz lua mapa
mundo nuvem sol tempo vida voz カメラ カレンダー メモ ノート マップ アルバム ゲーム ニュース 天気 時計 電卓 写真 家計簿 地図 手帳 日記 音楽 動画 지도 사진 메모 달력 날씨 알람 음악
가계부 일기 相机 日历 天气 地图 备忘录 笔记 音乐 日记 ada bugün deniz defter düş ev gün güneş hayat ışık kitap nefes odak oyun param rota su
yol yıldız zaman
`

export const ORDINARY_WORDS: readonly string[] = [...new Set(WORDS.trim().split(/\s+/))]
