package newhire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
)

func TestTheStateOfAWorkplace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   workplace
		want string
	}{
		"nothing":                          {nil, ""},
		"a code":                           {workplace{{name: "IA01"}}, "IA"},
		"a code in small letters":          {workplace{{name: "ia-ames"}}, "IA"},
		"a code before a space":            {workplace{{name: "IL Peoria"}}, "IL"},
		"no code":                          {workplace{{name: "In Store"}}, ""},
		"a word":                           {workplace{{name: "Iambic"}}, ""},
		"two letters that are none":        {workplace{{name: "XX1"}}, ""},
		"one letter":                       {workplace{{name: "I"}}, ""},
		"what it lies below":               {workplace{{name: "Store 12"}, {name: "Ames"}, {name: "Iowa"}, {name: "US"}}, "IA"},
		"a city with the name of a state":  {workplace{{name: "Store 12"}, {name: "Washington"}, {name: "iowa"}}, "IA"},
		"the nearest counts":               {workplace{{name: "Store 12"}, {name: "IL"}, {name: "Iowa"}}, "IL"},
		"an address":                       {workplace{{name: "Store 12", address: "1 Elm St, Ames, IA 50010"}}, "IA"},
		"an address of nine digits":        {workplace{{name: "Store 12", address: "1 Elm St, Ames, IA 50010-1234, USA"}}, "IA"},
		"an address without a code":        {workplace{{name: "Store 12", address: "1 Elm St, Chicago, IL"}}, "IL"},
		"an address that says nothing":     {workplace{{name: "Store 12", address: "Elm 1, Aarau"}, {name: "IA"}}, "IA"},
		"the code stands over the address": {workplace{{name: "IA01", address: "Chicago, IL 60007"}}, "IA"},
		"the address of what is above":     {workplace{{name: "Till"}, {name: "Store 12", address: "Ames, IA 50010"}, {name: "IL"}}, "IA"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := c.at.state()
			assert.Equal(t, c.want, got)
			err := c.at.checkIowa("Amount")
			if c.want == "IA" {
				require.NoError(t, err)
				return
			}
			assert.True(t, fault.HasCode(err, rules.CodeCombination), err)
			assert.ErrorContains(t, err, "Iowa only")
		})
	}
}
