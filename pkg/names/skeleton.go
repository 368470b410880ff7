package names

import "strings"

// lookalikes maps letters to the Latin lower-case letters that look like them, mainly Cyrillic and
// Greek ones. They are the confusables of Unicode (UTS 39) that usual fonts do not distinguish.
var lookalikes = strings.NewReplacer(
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "ё", "e", "һ", "h", "н", "h", "і", "i", "ї", "i", "ј", "j", "к", "k", "ӏ", "l",
	"м", "m", "о", "o", "р", "p", "ԛ", "q", "ѕ", "s", "т", "t", "у", "y", "ѵ", "v", "ԝ", "w", "х", "x", "г", "r", "п", "n", "и", "u",
	"α", "a", "β", "b", "ε", "e", "η", "n", "ι", "i", "κ", "k", "μ", "m", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "γ", "y", "ω", "w",
	"ı", "i", "ɑ", "a", "ɡ", "g",
)

// Skeleton returns the same text for names that look alike, even in different scripts. Use it only
// to decide whether a new name imitates an existing one.
func Skeleton(name string) string { return lookalikes.Replace(Key(name)) }
