package contract

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// strict converts the lenient forms of a request into the forms of the API description: numbers as
// text and texts as numbers, fractions for integers, one value for a list, words in another case, and
// null for absent. It leaves other values unchanged.
func strict(schema *jsonschema.Schema, value any) any {
	for schema.Ref != nil {
		schema = schema.Ref
	}
	if schema.Types == nil {
		return value
	}
	types := schema.Types.ToStrings()
	if len(types) != 1 {
		return value
	}
	switch types[0] {
	case "array":
		return strictList(schema, value)
	case "object":
		return strictObject(schema, value)
	case "string":
		if number, ok := value.(json.Number); ok {
			return number.String()
		}
		if text, ok := value.(string); ok {
			return strictWord(schema, text)
		}
	case "number", "integer":
		return strictNumber(types[0], value)
	}
	return value
}

// strictWord returns the word of the description that a text spells in another case.
func strictWord(schema *jsonschema.Schema, text string) string {
	if schema.Enum == nil {
		return text
	}
	for _, value := range schema.Enum.Values {
		if word, ok := value.(string); ok && strings.EqualFold(word, text) {
			return word
		}
	}
	return text
}

func strictList(schema *jsonschema.Schema, value any) any {
	items, ok := value.([]any)
	if !ok {
		items = []any{value}
	}
	if schema.Items2020 == nil {
		return items
	}
	out := make([]any, 0, len(items))
	for _, item := range items {
		out = append(out, strict(schema.Items2020, item))
	}
	return out
}

func strictObject(schema *jsonschema.Schema, value any) any {
	members, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := make(map[string]any, len(members))
	for name, member := range members {
		if member == nil {
			continue
		}
		if property := schema.Properties[ownName(schema, name)]; property != nil {
			member = strict(property, member)
		}
		out[name] = member
	}
	return out
}

// otherNameText is the sentence of a description that gives the other name of a property in requests.
var otherNameText = regexp.MustCompile(`Requests may also name it (\S+)\.$`)

// otherName returns the other name of the property with a description, or "".
func otherName(description string) string {
	if found := otherNameText.FindStringSubmatch(description); found != nil {
		return found[1]
	}
	return ""
}

// ownName returns the name in the schema of a property that a request names.
func ownName(schema *jsonschema.Schema, name string) string {
	if schema.Properties[name] == nil {
		for own, property := range schema.Properties {
			if otherName(property.Description) == name {
				return own
			}
		}
	}
	return name
}

// renameToOwn replaces the other names of properties in a request by their own names, which are the
// only ones that schemas list.
func renameToOwn(schema *jsonschema.Schema, value any) any {
	for schema.Ref != nil {
		schema = schema.Ref
	}
	switch value := value.(type) {
	case []any:
		if schema.Items2020 == nil {
			return value
		}
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = renameToOwn(schema.Items2020, item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, member := range value {
			own := ownName(schema, name)
			if property := schema.Properties[own]; property != nil {
				member = renameToOwn(property, member)
			}
			out[own] = member
		}
		return out
	}
	return value
}

func strictNumber(kind string, value any) any {
	var text string
	switch value := value.(type) {
	case string:
		text = value
	case json.Number:
		text = value.String()
	default:
		return value
	}
	number, ok := new(big.Rat).SetString(text)
	if !ok {
		return value
	}
	if kind == "integer" {
		return json.Number(new(big.Int).Quo(number.Num(), number.Denom()).String())
	}
	return json.Number(text)
}
