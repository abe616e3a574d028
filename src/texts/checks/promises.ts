import type { TextProblem, TextRule } from "./check.ts"
import { type PhraseList, phrasesIn } from "./phrase-list.ts"

/**
 * Fails if a developer's reply promises money or asks for a better rating. Apple asks developers not to request ratings
 * in replies; Google forbids them to offer anything for ratings.
 */
export const promises: TextRule = (text, { language }): TextProblem[] =>
  phrasesIn(text, PROMISES, language).map((what) => ({ rule: "promises", what }))

const PROMISES: PhraseList = {
  en:
    "refund* reimburse* money_back compensation compensate free_month free_months gift_card voucher coupon discount* " +
    "change_your_rating update_your_rating raise_your_rating improve_your_rating reconsider_your_rating " +
    "change_your_review update_your_review revise_your_review reconsider_your_review five_stars 5_stars 5-star " +
    "five-star better_rating higher_rating positive_rating positive_review",
  de:
    "erstatt* rückerstatt* geld_zurück entschädig* gutschein* rabatt* gratismonat kostenlosen_monat bewertung_ändern " +
    "bewertung_anpassen bewertung_überdenken rezension_ändern fünf_sterne 5_sterne bessere_bewertung",
  tr:
    "iade* para_iadesi paranızı_geri tazmin* hediye_kart* kupon* indirim* ücretsiz_ay puanınızı_değiştir* " +
    "puanınızı_güncelle* yorumunuzu_değiştir* yorumunuzu_güncelle* beş_yıldız 5_yıldız",
  es:
    "reembols* devolver*_el_dinero devolución_del_dinero compensar* compensación cupón descuento* mes_gratis " +
    "cambiar_tu_reseña cambiar_tu_valoración cambiar_su_reseña actualizar_tu_reseña actualizar_tu_valoración " +
    "cinco_estrellas 5_estrellas",
  fr:
    "rembours* dédommag* bon_d'achat coupon réduction* mois_gratuit modifier_votre_note changer_votre_note " +
    "modifier_votre_avis changer_votre_avis revoir_votre_note cinq_étoiles 5_étoiles",
  pt:
    "reembols* devolver_o_dinheiro compensação compensar cupom cupão desconto* mês_grátis alterar_sua_avaliação " +
    "mudar_sua_avaliação atualizar_sua_avaliação alterar_a_sua_avaliação rever_sua_avaliação cinco_estrelas " +
    "5_estrelas",
  ru:
    "возврат* вернём_деньги вернем_деньги компенс* купон* скидк* бесплатный_месяц изменить_оценку изменить_отзыв " +
    "повысить_оценку пересмотреть_оценку пять_звёзд пять_звезд 5_звёзд 5_звезд",
  ja: "返金 払い戻し 補償 クーポン 割引 無料期間 評価を変更 評価の変更 レビューを変更 評価を見直 星5 五つ星 星を5",
  ko: "환불 보상 쿠폰 할인 무료_이용권 평점을_변경 평점을_수정 리뷰를_수정 별점을_수정 별_5개 별_다섯",
  "zh-Hans": "退款 退钱 赔偿 补偿 优惠券 折扣 免费会员 修改评分 更改评分 修改评价 更改评价 五星 5星",
}
