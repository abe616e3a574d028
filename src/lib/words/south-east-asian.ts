import type { WordLists } from "./entry.ts"

export const SOUTH_EAST_ASIAN: Record<string, WordLists> = {
  id: {
    scripts: ["Latin"],
    stop:
      "ada adalah agar akan anda atau bagi bahwa bisa dalam dan dapat dari dengan di hanya ini itu jika juga kami " +
      "kamu karena ke kita lebih mereka oleh pada saat saja saya secara semua sudah tanpa tidak untuk yang",
    filler: "aplikasi app terbaik bagus baru top keren hebat seluler ponsel terbaru",
    free: "gratis cuma_cuma tanpa_biaya",
    deal: "diskon murah termurah promo obral potongan_harga",
  },
  ms: {
    scripts: ["Latin"],
    stop:
      "ada adalah agar akan anda atau awak bagi bahawa boleh dalam dan daripada dari dengan di hanya ialah ini itu " +
      "jika juga kami kerana ke kita lebih mereka oleh pada saya secara semua sudah tanpa tidak tiada untuk yang",
    filler: "aplikasi app terbaik bagus baharu baru top hebat mudah_alih telefon terbaru",
    free: "percuma gratis tanpa_bayaran",
    deal: "diskaun murah termurah promosi jualan_murah tawaran",
  },
  vi: {
    scripts: ["Latin"],
    letters: "ạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹđơư",
    stop:
      "bạn bởi các cái cho chỉ có của cùng cũng đã đang để đến đó được hay hoặc khi không là làm lại lên mà mọi một " +
      "nào này nên như những nhưng nhiều qua ra rất sẽ tại theo thì tôi trên trong từ và vào về với",
    filler: "app hay_nhất tốt_nhất mới nhất ứng_dụng phần_mềm tuyệt_vời hàng_đầu di_động",
    free: "miễn_phí free",
    deal: "giảm_giá khuyến_mãi giá_rẻ rẻ ưu_đãi",
  },
}
