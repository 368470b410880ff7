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

// Error codes for passwords (400).
const (
	// CodeShort: the password has too few characters. Choose a longer password.
	CodeShort = "WRL-40002"
	// CodeCommon: the password is common, or derived from the user's name. Choose another password.
	CodeCommon = "WRL-40003"
	// CodeUnfit: the password is too long, or contains control characters. Choose another password.
	CodeUnfit = "WRL-40004"
)

const (
	// MinLength is the minimum number of characters of a password (NIST SP 800-63B-4).
	MinLength = 8
	// MinPrivileged is the minimum for users who can change the permissions of others.
	MinPrivileged = 15
	// maxBytes is the largest password, in bytes.
	maxBytes = 1024
	// minDifferent is the minimum number of different characters.
	minDifferent = 4
)

// common is the list of passwords with at least MinLength characters among the 30,000 most frequent ones in
// leaks, in the order of their frequency: the password list of zxcvbn 4.4.2 (see common.LICENSE).
//
//go:embed common.txt
var common string

var isCommon = sync.OnceValue(func() map[string]struct{} {
	out := map[string]struct{}{}
	for word := range strings.Lines(common) {
		out[foldCase(strings.TrimSpace(word))] = struct{}{}
	}
	return out
})

// Check refuses a password that is too easy to guess. It has no composition rules. privileged means that the
// user can change the permissions of others.
func Check(password, userName string, privileged bool) *fault.Error {
	prepared, err := prepare(password)
	if err != nil {
		return unfitError()
	}
	least := MinLength
	if privileged {
		least = MinPrivileged
	}
	if utf8.RuneCountInString(prepared) < least {
		text := fmt.Sprintf("The password must have at least %d characters. Use several words; they are easy to remember.", least)
		if privileged {
			text = fmt.Sprintf("The password of a user who can change the permissions of others must have at least %d characters. Use several words; they are easy to remember.", least)
		}
		return fault.Invalid(CodeShort, text)
	}
	if guessable(foldCase(prepared), foldCase(userName)) {
		return fault.Invalid(CodeCommon, "The password is easy to guess: it is a common one, or consists of the user name or few characters. Choose another one.")
	}
	return nil
}

// Long reports whether a password is long enough for a privileged user.
func Long(password string) bool {
	prepared, err := prepare(password)
	return err == nil && utf8.RuneCountInString(prepared) >= MinPrivileged
}

func unfitError() *fault.Error {
	return fault.Invalid(CodeUnfit, fmt.Sprintf("The password must have at most %d bytes and no control characters. Choose another one.", maxBytes))
}

// prepare returns a password in the form for hashing, with one form for characters that can be typed in several
// ways (RFC 8265, profile OpaqueString).
func prepare(password string) (string, error) {
	if len(password) > maxBytes {
		return "", errLong
	}
	return precis.OpaqueString.String(password)
}

func foldCase(text string) string { return cases.Fold().String(norm.NFKC.String(text)) }

// guessable reports whether a folded password is a common one or the user's name, either of them possibly with
// digits and signs around it, or has too few different characters.
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

// repeats reports whether a text is a repetition of a shorter one.
func repeats(text string) bool {
	at := strings.Index((text + text)[1:], text) + 1
	return at < len(text) && at < MinLength
}
