package suggest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/suggest"
)

func TestNearestNames(t *testing.T) {
	t.Parallel()
	known := []string{"firstName", "lastName", "personNumber", "multi_read", "multi_create", "id", "EQUAL_TO"}
	for name, want := range map[string]string{
		"firstname": "firstName", "first_name": "firstName", "fristName": "firstName", "firstNames": "firstName",
		"mutli_read": "multi_read", "multiread": "multi_read", "EQUALS_TO": "EQUAL_TO", "ids": "id", "equal to": "EQUAL_TO",
		"surname": "", "": "", "x": "", "birthDate": "", strings.Repeat("firstName", 10): "", "\xff\xfe": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, suggest.Nearest(name, slices.Values(known)))
		})
	}
	assert.Equal(t, ` Did you mean "lastName"?`, suggest.Hint("lstName", slices.Values(known)))
	assert.Empty(t, suggest.Hint("birthDate", slices.Values(known)))
	assert.Equal(t, "aab", suggest.Nearest("aac", slices.Values([]string{"aad", "aab"})), "the first of two that are equally near")
}

func TestMessagesNameTheKnownValues(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `orderBy: "EMPLOYEE" is not one of EMPLOYEES, LOCATIONS. Did you mean "EMPLOYEES"?`,
		suggest.NotOneOf("orderBy", "EMPLOYEE", "EMPLOYEES", "LOCATIONS"))
	assert.Equal(t, `orderBy: "NAME" is not one of EMPLOYEES, LOCATIONS.`, suggest.NotOneOf("orderBy", "NAME", "EMPLOYEES", "LOCATIONS"))
	assert.Equal(t, `orderBy: "`+strings.Repeat("x", 40)+`" is not one of EMPLOYEES.`, suggest.NotOneOf("orderBy", strings.Repeat("x", 1000), "EMPLOYEES"))
}

// The work for a name of a hostile client is bounded.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	seen := 0
	endless := func(yield func(string) bool) {
		for i := 0; yield(fmt.Sprint(i)); i++ {
			seen++
		}
	}
	assert.Empty(t, suggest.Nearest(strings.Repeat("a", 64), endless))
	assert.LessOrEqual(t, seen, 4000)
}
