// Names as their owners spell them; "_" joins the words of one. Words with another frequent meaning (Windows, Switch,
// Pixel, Galaxy, Steam, Watch, Maps) occur only in unambiguous phrases.

/** Apple's products: trademarks, which its guidelines allow in a listing only as references. */
export const APPLE_PRODUCTS =
  "iphone iphones ipad ipads ipod ios ipados macos watchos tvos visionos macbook imac icloud itunes airpods airdrop " +
  "airplay carplay homekit homepod imessage facetime testflight healthkit siri airtag app_store apple_app_store " +
  "apple_watch apple_pay apple_tv apple_music apple_health apple_vision_pro vision_pro apple_arcade apple_maps " +
  "apple_intelligence apple_pencil apple_id mac_os mac_app_store game_center " +
  "айфон айпад アイフォン アイパッド 아이폰 아이패드 苹果手机 蘋果手機 ايفون آيفون آيباد ايباد אייפון אייפד ไอโฟน ไอแพด आईफोन आइफ़ोन आईपैड"

/** Other platforms and stores: App Review Guidelines 2.3.10. */
export const OTHER_PLATFORMS =
  "android androids android_tv google_play google_play_store play_store wear_os chromebook chrome_os chromeos " +
  "samsung_galaxy galaxy_store galaxy_watch google_pixel pixel_watch huawei appgallery harmonyos xiaomi miui " +
  "oneplus blackberry windows_phone windows_10 windows_11 microsoft_windows for_windows microsoft_store xbox " +
  "playstation playstation_4 playstation_5 ps4 ps5 nintendo nintendo_switch steam_deck kindle_fire fire_tablet " +
  "fire_tv amazon_appstore roku f_droid андроид андроида アンドロイド 안드로이드 구글플레이 갤럭시_스토어 安卓 安卓版 أندرويد اندرويد אנדרואיד " +
  "แอนดรอยด์ एंड्रॉइड एंड्रॉयड অ্যান্ড্রয়েড"

/** Names of well-known apps and their makers, as people search for them. */
export const KNOWN_BRANDS =
  "instagram facebook whatsapp tiktok snapchat youtube netflix spotify twitter telegram pinterest linkedin reddit " +
  "discord tumblr wechat weibo douyin xiaohongshu kakaotalk naver vkontakte viber skype uber_eats " +
  "doordash airbnb tripadvisor duolingo amazon amazon_prime paypal venmo cash_app revolut coinbase binance robinhood " +
  "google gmail google_maps google_drive google_photos chatgpt openai microsoft microsoft_word microsoft_excel " +
  "powerpoint onedrive dropbox evernote adobe photoshop lightroom canva capcut picsart vsco facetune " +
  "snapseed tinder okcupid grindr strava fitbit garmin myfitnesspal peloton nike_run headspace " +
  "disney hulu hbo_max paramount_plus crunchyroll twitch soundcloud deezer shazam minecraft roblox fortnite " +
  "pokemon pokémon pokemon_go candy_crush clash_royale clash_of_clans call_of_duty angry_birds genshin_impact " +
  "ebay walmart aliexpress alibaba taobao shein temu etsy ikea mcdonalds starbucks " +
  "インスタグラム ユーチューブ フェイスブック ポケモン 인스타그램 유튜브 페이스북 카카오톡 微信 抖音 小红书 微博 淘宝 支付宝 инстаграм ютуб ватсап телеграм"
