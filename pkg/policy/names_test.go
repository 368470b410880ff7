package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Names of requests are cleaned wherever they stand, and nothing else is.
func TestNamesOfRequestsAreCleaned(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method      string
		empty       proto.Message
		given, want string
		code        string
	}{
		"a person number": {
			"/rotaloom.commons.v1.PersonService/CreatePerson", &commonsv1.Person{},
			`{"personInformation": {"person": {"personNumber": "\ufeff P-1\u200b001\u00a0", "firstName": " Ada "}}, "user": {"userAccount": {"userName": " ada ", "userPassword": " secret\u200b"}}}`,
			`{"personInformation": {"person": {"personNumber": "P-1001", "firstName": " Ada "}}, "user": {"userAccount": {"userName": "ada", "userPassword": " secret\u200b"}}}`, "",
		},
		"a reference": {
			"/rotaloom.scheduling.v1.ShiftService/CreateShift", &schedulingv1.Shift{},
			`{"employee": {"qualifier": "\t1001"}, "label": " Fru\u0308h "}`,
			`{"employee": {"qualifier": "1001"}, "label": " Fru\u0308h "}`, "",
		},
		"an imitation": {
			"/rotaloom.commons.v1.PersonService/CreatePerson", &commonsv1.Person{},
			`{"personInformation": {"person": {"personNumber": "P\u0430y-1"}}}`, "", fault.CodeMixedScripts,
		},
		"a lookup by an imitation": {
			"/rotaloom.commons.v1.PersonService/IdentifyPersons", &commonsv1.IdentifyPersonsRequest{},
			`{"identities": [{"personNumber": "P\u0430y-1"}]}`, `{"identities": [{"personNumber": "P\u0430y-1"}]}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := policy.NewTable(nil).Method(test.method)
			require.NoError(t, err)
			given, want := test.empty, proto.Clone(test.empty)
			require.NoError(t, protojson.Unmarshal([]byte(test.given), given))
			err = m.CleanNames(given)
			if test.code != "" {
				require.Error(t, err)
				assert.Equal(t, test.code, fault.FromError(err).Code)
				assert.Contains(t, err.Error(), "personInformation.person.personNumber")
				return
			}
			require.NoError(t, err)
			require.NoError(t, protojson.Unmarshal([]byte(test.want), want))
			assert.True(t, proto.Equal(want, given), "%v", given)
		})
	}
}
