package brazil

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIdentifiersHaveCheckDigits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text      string
		cnpj, cpf bool
	}{
		{"11222333000181", true, false},
		{"11222333000182", false, false},
		{"11222333000191", false, false},
		{"12ABC34501DE35", true, false}, // the example of the tax office
		{"12ABC34501DE36", false, false},
		{"12ABC34501DF35", false, false},
		{"12abc34501de35", false, false}, // letters are large by then
		{"12ABC34501DE3X", false, false},
		{"00000000000000", false, false},
		{"11222333000", false, false},
		{"52998224725", false, true},
		{"12345678909", false, true},
		{"12345678900", false, false},
		{"11111111111", false, false},
		{"5299822472A", false, false},
		{"", false, false},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.cnpj, isCNPJ(test.text))
			assert.Equal(t, test.cpf, isCPF(test.text))
		})
	}
	assert.Equal(t, "12ABC34501DE35", bare("12.abc.345/01de-35"))
	assert.Equal(t, "00012345678909", padIdentifier("12345678909", lenCAEPF))
	assert.Equal(t, "123456789012345", padIdentifier("123456789012345", lenCAEPF))
}
