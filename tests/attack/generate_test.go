package attack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/tests/contract"
)

// words holds valid values of properties, by property name.
type words map[string][]any

func newWords(asked []contract.RecordedStep) words {
	w := words{}
	for _, a := range asked {
		var body any
		if filled := contract.Filled(a); filled.Body == nil || decode(filled.Body, &body) != nil {
			continue
		}
		w.learn(body)
	}
	return w
}

func (w words) learn(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) { // Sort, so that a seed repeats the order.
			if len(w[name]) < 50 {
				w[name] = append(w[name], v[name])
			}
			w.learn(v[name])
		}
	case []any:
		for _, item := range v {
			w.learn(item)
		}
	}
}

// generator makes random requests.
type generator struct {
	*rand.Rand
	words words
	other []string
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// request makes a request of some operation that does not revoke the fuzzer's own credentials.
func (g *generator) request(f *fuzz) request {
	for {
		if r := g.any(f); !f.isOwnClient(r.path) {
			return r
		}
	}
}

// any makes a request of some operation: a valid one with changes, or one from the descriptors.
func (g *generator) any(f *fuzz) request {
	c := f.calls[g.IntN(len(f.calls))]
	if good := f.good[c.name]; len(good) > 0 && g.chance(70) {
		r := good[g.IntN(len(good))]
		r.body = clone(r.body)
		for range 1 + g.IntN(3) {
			r.body = g.change(r.body, "")
		}
		if g.chance(20) {
			r.path = g.path(c)
		}
		return r
	}
	r := request{call: c, method: c.method, path: g.path(c), none: c.body == nil}
	if c.body != nil {
		r.body = g.message(c.body, 0)
	}
	if c.body == nil || c.body != c.input {
		r.path += g.query(c)
	}
	return r
}

// path fills the path of an operation.
func (g *generator) path(c httpOperation) string {
	path := word.ReplaceAllString(c.path, "$1")
	return parameter.ReplaceAllStringFunc(path, func(string) string { return url.PathEscape(fmt.Sprint(g.id())) })
}

func (g *generator) query(c httpOperation) string {
	values := url.Values{}
	for i := range c.input.Fields().Len() {
		if f := c.input.Fields().Get(i); g.chance(40) && f.Message() == nil {
			values.Add(f.JSONName(), fmt.Sprint(g.scalar(f)))
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// id returns an id that may or may not exist.
func (g *generator) id() any {
	switch g.IntN(4) {
	case 0:
		return g.number()
	case 1:
		return g.other[g.IntN(len(g.other))]
	}
	return g.IntN(60)
}

// number returns a number that programs often handle wrongly.
func (g *generator) number() any {
	numbers := []any{
		0, 1, -1, 2, 127, 128, 255, 256, 32767, 32768, -32769, 65536, 999999999, 2147483647, 2147483648, -2147483649, 4294967296,
		json.Number("9007199254740993"), json.Number("9223372036854775807"), json.Number("-9223372036854775808"), json.Number("9223372036854775808"),
		json.Number("1e300"), json.Number("-1e300"), json.Number("0.1"), json.Number("1.5"), json.Number("1e-300"), json.Number("99999999999999999999999999999999"),
	}
	return numbers[g.IntN(len(numbers))]
}

// text returns a text that programs often handle wrongly.
func (g *generator) text() any {
	texts := []any{
		"", " ", "a", "A", "%", "_", "'", "\"", "\\", "/", "a/b", "..", "*", "-", "$1", "{}", "null", "true", "0", "-1", "1", "\t\n", "\u200b", "\u202e", "Ａ", "😀", "ß", "İ",
		"2026-02-28", "2026-02-29", "2024-02-29", "0001-01-01", "1753-01-01", "1899-12-31", "1900-01-01", "3000-01-01", "9999-12-31", "0000-00-00", "2026-13-01", "2026-1-1",
		"2026-03-29T02:30:00", "2026-10-25T02:30:00", "1900-01-01T00:00:00", "9999-12-31T23:59:59", "2026-01-01T24:00:00", "2026-01-01T00:00:00Z", "00:00", "24:00", "23:59:60",
		"Europe/Berlin", "Nowhere/Else", "ada@example.org", strings.Repeat("x", 51), strings.Repeat("x", 256), strings.Repeat("é", 5000), strings.Repeat("a/", 300),
		g.other[g.IntN(len(g.other))],
	}
	return texts[g.IntN(len(texts))]
}

// scalar returns a value of a field that is not a message.
func (g *generator) scalar(f protoreflect.FieldDescriptor) any {
	if known := g.words[f.JSONName()]; len(known) > 0 && g.chance(60) {
		return known[g.IntN(len(known))]
	}
	if g.chance(4) {
		return g.anything(0)
	}
	switch f.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind:
		return g.text()
	case protoreflect.BoolKind:
		return g.chance(50)
	case protoreflect.EnumKind:
		return string(f.Enum().Values().Get(g.IntN(f.Enum().Values().Len())).Name())
	}
	if g.chance(60) {
		return g.IntN(60)
	}
	return g.number()
}

// most bounds the depth of messages that contain themselves.
const most = 8

// message makes the JSON of a message.
func (g *generator) message(m protoreflect.MessageDescriptor, depth int) any {
	if m.ParentFile().Package() == "google.protobuf" {
		return g.anything(0)
	}
	if g.chance(2) {
		return g.anything(0)
	}
	if bare := bareArray(m); bare != "" {
		return g.field(m.Fields().ByName(protoreflect.Name(bare)), depth)
	}
	object := map[string]any{}
	set := 30 + 50*g.IntN(2)
	for i := range m.Fields().Len() {
		if f := m.Fields().Get(i); g.chance(set) && (depth < most || f.Message() == nil) {
			object[f.JSONName()] = g.field(f, depth)
		}
	}
	if g.chance(2) {
		object["notAProperty"] = 1
	}
	return object
}

func (g *generator) field(f protoreflect.FieldDescriptor, depth int) any {
	value := func() any {
		if f.Message() != nil && !f.IsMap() {
			return g.message(f.Message(), depth+1)
		}
		return g.scalar(f)
	}
	switch {
	case f.IsMap():
		return g.entries(f.MapValue().Kind() == protoreflect.StringKind)
	case !f.IsList():
		return value()
	}
	items := make([]any, 0, 3)
	for range g.IntN(4) {
		items = append(items, value())
	}
	if len(items) > 0 && g.chance(3) { // Repeat one item more often than most limits allow.
		return slices.Repeat(items[:1], 1+g.IntN(1200))
	}
	return items
}

// entries makes the JSON of a map: of localized texts, or of any values.
func (g *generator) entries(texts bool) map[string]any {
	if !texts || g.chance(10) {
		return map[string]any{"a": g.text(), "b": g.number()}
	}
	entries := map[string]any{}
	keys := []string{"en_us", "en", "de_de", "EN_US", "en-US", "", "a.b", "_", "\u202e", strings.Repeat("x", 5000)}
	for range g.IntN(4) {
		entries[keys[g.IntN(len(keys))]] = g.text()
	}
	if g.chance(3) { // More entries than most limits allow.
		for i := range 1 + g.IntN(1200) {
			entries[fmt.Sprintf("x%c_%04d", 'a'+i%26, i)] = "x"
		}
	}
	return entries
}

// anything returns JSON of any kind that the contract does not expect.
func (g *generator) anything(depth int) any {
	switch g.IntN(9) {
	case 0:
		return nil
	case 1:
		return g.chance(50)
	case 2, 3:
		return g.number()
	case 4, 5:
		return g.text()
	case 6:
		if depth < 3 {
			return []any{g.anything(depth + 1), g.anything(depth + 1)}
		}
	case 7:
		if depth < 3 {
			return map[string]any{"id": g.anything(depth + 1), "name": g.anything(depth + 1)}
		}
	case 8:
		if g.chance(20) { // Nest deeply.
			return json.RawMessage(strings.Repeat("[", 100) + strings.Repeat("]", 100))
		}
	}
	return map[string]any{}
}

// change changes one value somewhere in a body.
func (g *generator) change(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 || g.chance(5) {
			return g.anything(0)
		}
		at := names[g.IntN(len(names))]
		if g.chance(12) {
			delete(v, at)
			return v
		}
		v[at] = g.change(v[at], at)
		return v
	case []any:
		if len(v) == 0 || g.chance(5) {
			return g.anything(0)
		}
		if g.chance(10) {
			return append(v, clone(v[g.IntN(len(v))]))
		}
		i := g.IntN(len(v))
		v[i] = g.change(v[i], name)
		return v
	case json.Number:
		if g.chance(30) {
			return g.IntN(60)
		}
		return g.number()
	case string:
		if known := g.words[name]; len(known) > 0 && g.chance(30) {
			return clone(known[g.IntN(len(known))])
		}
		if g.chance(10) {
			return g.number()
		}
		return g.text()
	case bool:
		if g.chance(80) {
			return !v
		}
	}
	return g.anything(0)
}

func decode(text []byte, into *any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// encode writes a body as JSON. A value without a JSON form is written as Go prints it.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(fmt.Sprint(v))
	}
	return text
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(v))
		for name, value := range v {
			c[name] = clone(value)
		}
		return c
	case []any:
		c := make([]any, len(v))
		for i := range v {
			c[i] = clone(v[i])
		}
		return c
	}
	return v
}
