package openapi

import (
	"regexp"
	"strings"
)

var nameSeparator = regexp.MustCompile(`[._\s-]+`)

// typeName returns the name that generators of clients give to a type: "CommonsPeriodType".
func typeName(parts ...string) string {
	var out strings.Builder
	for _, part := range parts {
		for _, word := range nameSeparator.Split(part, -1) {
			if word != "" {
				out.WriteString(strings.ToUpper(word[:1]) + word[1:])
			}
		}
	}
	return out.String()
}

// nameWords makes a schema of its own of the words of a property, if generators of clients would give the type of the
// property the name of another schema: the words of type in commons.Period, beside commons.PeriodType.
func nameWords(named *Map[*Schema]) {
	taken := map[string]bool{}
	for _, name := range named.Keys() {
		taken[typeName(name)] = true
	}
	for _, name := range named.Keys() {
		properties := named.Get(name).Properties
		if properties == nil {
			continue
		}
		for _, property := range properties.Keys() {
			schema := properties.Get(property)
			words := schema
			if schema.Items != nil {
				words = schema.Items
			}
			if len(words.Enum) == 0 || !taken[typeName(name, property)] {
				continue
			}
			own := name + "." + property + "Word"
			named.Set(own, &Schema{Type: words.Type, Enum: words.Enum})
			words.Ref, words.Type, words.Enum = "#/components/schemas/"+own, nil, nil
		}
	}
}
