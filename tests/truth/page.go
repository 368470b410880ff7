package truth

import (
	"fmt"
	"strings"
)

// page returns docs/truth.md for the cases.
func page(all []Case) string {
	var out strings.Builder
	counts := map[string]int{}
	for _, c := range all {
		counts[c.Result]++
	}
	fmt.Fprintf(&out, `# Worked examples of others

<!-- Made from tests/truth/testdata by make reference. -->

These examples were published by legislators, authorities and other programs. The suite `+"`tests/truth`"+` sends each
of them through the public API and compares the response with what its source says.

| result | examples | meaning |
|---|---|---|
| hit | %d | the product returns what the source says |
| miss | %d | the product returns something else |
| not supported | %d | the product has no rule for it |
`, counts[Hit], counts[Miss], counts[NotSupported])
	source := ""
	for _, c := range all {
		if c.Source != source {
			source = c.Source
			fmt.Fprintf(&out, "\n## %s\n\n| example | statement | result |\n|---|---|---|\n", source)
		}
		result := c.Result
		if c.Got != "" {
			result += ": " + c.Got
		}
		if c.Reason != "" {
			result += ". " + c.Reason
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", c.Name, c.Statement, result)
	}
	return out.String()
}
