package names

import "strings"

// lookalikes are letters beside those that are drawn as they are, in lower case: of Cyrillic
// and Greek, Latin ones. They are those of Unicode's confusables (UTS 39) that a usual font
// does not tell apart.
var lookalikes = strings.NewReplacer(
	"а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "ё", "e", "һ", "h", "н", "h", "і", "i", "ї", "i", "ј", "j", "к", "k", "ӏ", "l",
	"м", "m", "о", "o", "р", "p", "ԛ", "q", "ѕ", "s", "т", "t", "у", "y", "ѵ", "v", "ԝ", "w", "х", "x", "г", "r", "п", "n", "и", "u",
	"α", "a", "β", "b", "ε", "e", "η", "n", "ι", "i", "κ", "k", "μ", "m", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "γ", "y", "ω", "w",
	"ı", "i", "ɑ", "a", "ɡ", "g",
)

// Skeleton returns what names have in common that look alike, also when they are written in
// different scripts. It decides nothing but whether a new name imitates one that is there.
func Skeleton(name string) string { return lookalikes.Replace(Key(name)) }
