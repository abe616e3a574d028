import { normalForm } from "../../../lib/normal-form.ts"

/** Rows of the page's information that only their title identifies. */
type RowTitle = "languages" | "category" | "purchases"

// The page is in its storefront's language, and rows have no other identifier. English, Japanese and Chinese titles
// were recorded from pages; the other titles are wording that the store uses elsewhere. Rows with other titles are not
// read.
const TITLES: Record<RowTitle, readonly string[]> = {
  languages: [
    "Languages",
    "Language",
    "言語",
    "语言",
    "語言",
    "Sprachen",
    "Sprache",
    "Langues",
    "Langue",
    "Idiomas",
    "Idioma",
    "Lingue",
    "Lingua",
    "언어",
    "Языки",
    "Язык",
    "Мови",
    "Talen",
    "Taal",
    "Línguas",
    "Språk",
    "Sprog",
    "Kielet",
    "Kieli",
    "Diller",
    "Dil",
    "Języki",
    "Język",
    "Jazyky",
    "Jazyk",
    "Nyelvek",
    "Nyelv",
    "Limbi",
    "Γλώσσες",
    "Ngôn ngữ",
    "Bahasa",
    "ภาษา",
    "اللغات",
    "שפות",
    "Jezici",
  ],
  category: [
    "Category",
    "カテゴリ",
    "カテゴリー",
    "类别",
    "類別",
    "Kategorie",
    "Catégorie",
    "Categoría",
    "Categoria",
    "카테고리",
    "Категория",
    "Категорія",
    "Categorie",
    "Kategori",
    "Kategoria",
    "Kategória",
    "Κατηγορία",
    "Danh mục",
    "Thể loại",
    "หมวดหมู่",
    "الفئة",
    "קטגוריה",
    "Kategorija",
  ],
  purchases: [
    "In-App Purchases",
    "アプリ内課金",
    "アプリ内購入",
    "App内课金",
    "App内购买",
    "App内购买项目",
    "App內購買",
    "In-App-Käufe",
    "Achats intégrés",
    "Compras integradas",
    "Compras dentro de la app",
    "Compras dentro do app",
    "Acquisti in-app",
    "앱내구입",
    "Встроенные покупки",
    "Вбудовані покупки",
    "In-app-aankopen",
    "Köp inuti app",
    "Uygulama İçi Satın Alımlar",
  ],
}

const KNOWN = {
  languages: new Set(TITLES.languages.map(spelt)),
  category: new Set(TITLES.category.map(spelt)),
  purchases: new Set(TITLES.purchases.map(spelt)),
}

/** Returns whether the title identifies the given row, in any language. */
export function isTitled(title: string | undefined, row: RowTitle): boolean {
  return title !== undefined && KNOWN[row].has(spelt(title))
}

/** Normalises a title: removes differences of case, white space and hyphens. */
function spelt(title: string): string {
  return normalForm(title, "NFKC")
    .toLowerCase()
    .replace(/[\s\u2010\u2011-]+/gu, "")
}
