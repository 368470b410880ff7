package openapi

import (
	"bytes"
	"encoding/json"
)

// Map is a JSON object whose members keep their insertion order.
type Map[V any] struct {
	keys   []string
	values map[string]V
}

// Set adds a member, or changes the value of an existing one in place.
func (m *Map[V]) Set(key string, value V) {
	if m.values == nil {
		m.values = map[string]V{}
	}
	if _, ok := m.values[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.values[key] = value
}

// Get returns the value of a member, or the zero value.
func (m *Map[V]) Get(key string) V { return m.values[key] }

// Has reports whether the member exists.
func (m *Map[V]) Has(key string) bool {
	_, ok := m.values[key]
	return ok
}

// Keys returns the names of the members in order.
func (m *Map[V]) Keys() []string { return m.keys }

// MarshalJSON writes the members in order.
func (m *Map[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range m.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		value, err := plainJSON(m.values[key])
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plainJSON returns the JSON of v, without escaping <, > and &.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
