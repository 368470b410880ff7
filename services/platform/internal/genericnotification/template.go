package genericnotification

import (
	"fmt"
	"regexp"
	"strings"
)

// placeholder is "{{name}}", with spaces or without.
var placeholder = regexp.MustCompile(`\{\{ *([A-Za-z][A-Za-z0-9_.]{0,99}) *\}\}`)

// checkTemplate refuses a text with double braces that are not a placeholder, because they would appear in
// messages.
func checkTemplate(path, text string) error {
	if rest := placeholder.ReplaceAllString(text, ""); strings.Contains(rest, "{{") || strings.Contains(rest, "}}") {
		return invalid(path, "has double braces that hold no name; write a placeholder as {{name}}, with letters, digits, '_' and '.'")
	}
	return nil
}

// Render replaces the placeholders in a text by values. It does not expand placeholders in values. A
// placeholder without a value is an error.
func Render(text string, values map[string]string) (string, error) {
	var missing string
	out := placeholder.ReplaceAllStringFunc(text, func(found string) string {
		name := placeholder.FindStringSubmatch(found)[1]
		value, ok := values[name]
		if !ok && missing == "" {
			missing = name
		}
		return value
	})
	if missing != "" {
		return "", fmt.Errorf("no value for {{%s}}", missing)
	}
	return out, nil
}
