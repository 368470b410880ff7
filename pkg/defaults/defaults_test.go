package defaults_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/defaults"
)

type inner struct {
	Count int `default:"7"`
}

// pair is read from text.
type pair struct{ a, b string }

func (p *pair) UnmarshalText(text []byte) (err error) {
	var ok bool
	if p.a, p.b, ok = strings.Cut(string(text), "/"); !ok {
		return errors.New("no pair")
	}
	return nil
}

type settings struct {
	Count  int           `default:"3"`
	Bytes  int64         `default:"67108864"`
	Memory uint32        `default:"19456"`
	Wait   time.Duration `default:"1m30s"`
	Ratio  float64       `default:"0.5"`
	Name   string        `default:"rotaloom"`
	On     bool          `default:"true"`
	Pair   pair          `default:"x/y"`
	Free   int
	Inner  inner `embed:""`
}

func TestFill(t *testing.T) {
	t.Parallel()
	filled := settings{Count: 3, Bytes: 64 << 20, Memory: 19456, Wait: 90 * time.Second, Ratio: 0.5, Name: "rotaloom", Pair: pair{"x", "y"}}
	set := settings{Count: 1, Bytes: 2, Memory: 3, Wait: 4, Ratio: 5, Name: "6", On: true, Pair: pair{"7", ""}, Free: 7, Inner: inner{Count: 8}}
	below := filled
	below.Free = -1
	tests := []struct {
		name        string
		given, want settings
	}{
		{"nothing is set", settings{}, filled},
		{"what is set stays", set, set},
		{"nothing is below zero", settings{Count: -1, Bytes: -1, Wait: -1, Ratio: -1, Free: -1}, below},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, defaults.Fill(test.given))
		})
	}
}

func TestTagsThatDoNotFit(t *testing.T) {
	t.Parallel()
	tests := map[string]func(){
		"a number": func() {
			defaults.Fill(struct {
				N int `default:"many"`
			}{})
		},
		"too large": func() {
			defaults.Fill(struct {
				N int8 `default:"300"`
			}{})
		},
		"a time": func() {
			defaults.Fill(struct {
				T time.Duration `default:"60"`
			}{})
		},
		"a text": func() {
			defaults.Fill(struct {
				P pair `default:"x"`
			}{})
		},
		"a list": func() {
			defaults.Fill(struct {
				L []string `default:"a"`
			}{})
		},
	}
	for name, fill := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Panics(t, fill)
		})
	}
}
