package obs

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a text that must not be shown: printing, logging or encoding it writes "[redacted]". An
// empty Secret is shown as empty, so that a missing setting is visible.
type Secret string

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the text.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// Format hides the text from every verb of fmt.
func (s Secret) Format(f fmt.State, _ rune) {
	// A Formatter cannot report errors; fmt ignores such errors too.
	_, _ = io.WriteString(f, s.String())
}

// LogValue hides the text from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the text from JSON and other encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the text from a flag, a variable or a file.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Secret(text)
	return nil
}
