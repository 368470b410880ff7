package brazil

import "strings"

// Lengths of identifiers, including their check digits.
const (
	lenCNPJ   = 14
	lenCPF    = 11
	lenCEI    = 12
	lenCAEPF  = 14
	lenCNO    = 12
	lenSerial = 17
)

// bare removes the punctuation of an identifier, and converts its letters to upper case.
func bare(text string) string {
	return strings.ToUpper(strings.NewReplacer(".", "", "-", "", "/", "", " ", "").Replace(text))
}

// padIdentifier pads an identifier with leading zeros to its length.
func padIdentifier(text string, length int) string {
	if len(text) >= length {
		return text
	}
	return strings.Repeat("0", length-len(text)) + text
}

func only(text, characters string) bool { return strings.Trim(text, characters) == "" }

const (
	digits  = "0123456789"
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// isCNPJ reports whether a text of 14 characters is the valid identifier of a company. Since July
// 2026 the first twelve characters may be letters, which count as their ASCII code less 48. The
// check digits are always digits.
func isCNPJ(text string) bool {
	if len(text) != lenCNPJ || !only(text[:12], digits+letters) || !only(text[12:], digits) || only(text, text[:1]) {
		return false
	}
	return checkDigit(text[:12], 9) == text[12] && checkDigit(text[:13], 9) == text[13]
}

// isCPF reports whether a text of 11 digits is the valid identifier of a person. A CPF that repeats
// one digit has correct check digits, but is not issued to persons.
func isCPF(text string) bool {
	if len(text) != lenCPF || !only(text, digits) || only(text, text[:1]) {
		return false
	}
	return checkDigit(text[:9], 11) == text[9] && checkDigit(text[:10], 11) == text[10]
}

// checkDigit calculates the check digit modulo 11 of a text. The weights grow from 2 on from the
// right, and restart after the largest.
func checkDigit(text string, largest int) byte {
	sum, weight := 0, 2
	for i := len(text) - 1; i >= 0; i-- {
		sum += int(text[i]-'0') * weight
		if weight++; weight > largest {
			weight = 2
		}
	}
	if rest := sum % 11; rest >= 2 {
		return byte('0' + 11 - rest)
	}
	return '0'
}
