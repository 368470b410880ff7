package transcode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// The error of an input is the first one, and lists the following ones.
func TestAllProblemsOfAnInputAreFound(t *testing.T) {
	t.Parallel()
	plan := transcode.For((&commonsv1.Person{}).ProtoReflect().Descriptor())
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"no problem": {`{"personInformation":{"person":{"firstName":"Ada"}}}`, nil},
		"unknown properties": {`{"personInformation":{"person":{"firstname":"A","surname":{"a":[1]}}},"x":1}`, []string{
			`WFP-90011 personInformation.person.firstname "personInformation.person.firstname" is not a known property. Did you mean "firstName"?`,
			`WFP-90011 personInformation.person.surname "personInformation.person.surname" is not a known property.`,
			`WFP-90011 x "x" is not a known property.`,
		}},
		"wrong values in a list": {`{"personInformation":{"badgeAssignments":[{"badgeNumber":[]},{"badgeNumber":"7"},3],"person":{"firstName":true}}}`, []string{
			`WFP-90009 personInformation.badgeAssignments[0].badgeNumber "personInformation.badgeAssignments[0].badgeNumber" is a list, but a single value is expected.`,
			`WFP-90009 personInformation.badgeAssignments[2] "personInformation.badgeAssignments[2]" is a single value, but an object is expected.`,
			`WFP-90010 personInformation.person.firstName "personInformation.person.firstName" is true, but a text is expected.`,
		}},
		"a repeated property": {`{"x":1,"user":{},"user":{"y":2}}`, []string{
			`WFP-90011 x "x" is not a known property.`,
			`WFP-90010 user "user" occurs more than once in an object.`,
		}},
		"malformed JSON after a problem": {`{"x":1,"user":{"y":[}}`, []string{
			`WFP-90011 x "x" is not a known property.`,
			`WFP-90011 user.y "user.y" is not a known property.`,
		}},
		"malformed JSON": {`{"user":{"userAccount":{"userName":"a}}`, []string{
			`WFP-90010 user.userAccount.userName "user.userAccount.userName" is not valid JSON at byte 39: the closing quote is missing.`,
		}},
		"an object that is no object": {`{"personInformation":3,"x":1}`, []string{
			`WFP-90009 personInformation "personInformation" is a single value, but an object is expected.`,
			`WFP-90011 x "x" is not a known property.`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := plan.AppendWire(nil, []byte(c.in))
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			f := fault.FromError(err)
			assert.Equal(t, c.want, violationTexts(f))
			assert.Contains(t, c.want[0], f.Code)
			assert.True(t, strings.HasSuffix(c.want[0], f.Message), f.Message)
		})
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	plan := transcode.For((&commonsv1.Person{}).ProtoReflect().Descriptor())
	var in strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&in, `,"x%d":[[[{}]]]`, i)
	}
	_, err := plan.AppendWire(nil, []byte("{"+in.String()[1:]+"}"))
	assert.Len(t, fault.FromError(err).Details.GetViolations(), fault.MaxViolations)
}

func violationTexts(f *fault.Error) []string {
	var texts []string
	for _, v := range f.Details.GetViolations() {
		texts = append(texts, v.GetErrorCode()+" "+v.GetPath()+" "+v.GetMessage())
	}
	return texts
}
