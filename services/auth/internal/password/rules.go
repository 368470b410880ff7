package password

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Codes of passwords that are refused (400).
const (
	// CodeShort: the password has too few characters.
	CodeShort = "WRL-40002"
	// CodeCommon: many have the password, or it is made of the user's name.
	CodeCommon = "WRL-40003"
	// CodeUnfit: the password is too long, or has characters that no keyboard types.
	CodeUnfit = "WRL-40004"
)

const (
	// MinLength is the fewest characters that a password may have (NIST SP 800-63B-4).
	MinLength = 8
	// MinPrivileged is that of a user who may change who may do what.
	MinPrivileged = 15
	// maxBytes bounds what is hashed, in bytes.
	maxBytes = 1024
	// minDifferent is how many different characters a password needs.
	minDifferent = 4
)

// common are the passwords of at least MinLength characters among the 30,000 that
// leaks have shown most often, in the order of their frequency: the list of
// passwords of zxcvbn 4.4.2 (see common.LICENSE).
//
//go:embed common.txt
var common string

var isCommon = sync.OnceValue(func() map[string]struct{} {
	out := map[string]struct{}{}
	for word := range strings.Lines(common) {
		out[fold(strings.TrimSpace(word))] = struct{}{}
	}
	return out
})

// Check refuses a password that is too easy to guess. There are no rules about what
// it is composed of. Privileged is who may change who may do what.
func Check(password, userName string, privileged bool) *fault.Error {
	prepared, err := prepare(password)
	if err != nil {
		return unfit()
	}
	least := MinLength
	if privileged {
		least = MinPrivileged
	}
	if utf8.RuneCountInString(prepared) < least {
		text := fmt.Sprintf("The password must have at least %d characters. There are no rules about which; several words are easy to remember.", least)
		if privileged {
			text = fmt.Sprintf("The password of a user who may change what others may do must have at least %d characters. Several words are easy to remember.", least)
		}
		return fault.Invalid(CodeShort, text)
	}
	if guessable(fold(prepared), fold(userName)) {
		return fault.Invalid(CodeCommon, "The password is among the first that somebody would guess: many people have it, or it is made of the user name or few characters. Choose another one.")
	}
	return nil
}

// Long reports whether a password has the length that those of privileged users need.
func Long(password string) bool {
	prepared, err := prepare(password)
	return err == nil && utf8.RuneCountInString(prepared) >= MinPrivileged
}

func unfit() *fault.Error {
	return fault.Invalid(CodeUnfit, fmt.Sprintf("A password has at most %d bytes, and no control characters.", maxBytes))
}

// prepare returns a password as it is hashed: with one form for characters that can be
// typed in several ways (RFC 8265, the profile OpaqueString).
func prepare(password string) (string, error) {
	if len(password) > maxBytes {
		return "", errLong
	}
	return precis.OpaqueString.String(password)
}

func fold(text string) string { return cases.Fold().String(norm.NFKC.String(text)) }

// guessable reports whether a folded password is a common one, or one with digits and
// signs around it, or the name of its user in the same way, or has few characters.
func guessable(password, userName string) bool {
	core := strings.TrimFunc(password, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range []string{password, core} {
		if _, known := isCommon()[word]; known {
			return true
		}
	}
	name := strings.TrimFunc(userName, func(r rune) bool { return !unicode.IsLetter(r) })
	if userName != "" && password == userName || name != "" && core == name {
		return true
	}
	different := map[rune]bool{}
	run := true
	var last rune
	for i, r := range password {
		run = run && (i == 0 || r == last+1 || r == last-1)
		different[r], last = true, r
	}
	return run || len(different) < minDifferent || repeats(password)
}

// repeats reports whether a text is a shorter one several times.
func repeats(text string) bool {
	at := strings.Index((text + text)[1:], text) + 1
	return at < len(text) && at < MinLength
}
