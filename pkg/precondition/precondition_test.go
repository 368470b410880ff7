package precondition_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tags := func(n int) string { return strings.TrimSuffix(strings.Repeat(`"1",`, n), ",") }
	tests := []struct {
		name  string
		lines []string
		want  string // "" for an error
	}{
		{"one tag", []string{`"3"`}, "3"},
		{"a list", []string{`"3", "4"`}, "3,4"},
		{"several lines", []string{`"3"`, ` "4"	,"5"`}, "3,4,5"},
		{"empty elements", []string{`, "3",, "4" ,`}, "3,4"},
		{"an asterisk", []string{" * "}, "*"},
		{"an asterisk and nothing", []string{"*", ""}, "*"},
		{"a weak tag", []string{`W/"3"`}, "0"},
		{"a tag of another server", []string{`"abc"`}, "0"},
		{"a comma in a tag", []string{`"1,2", "3"`}, "0,3"},
		{"an empty tag", []string{`""`}, "0"},
		{"other writings of numbers", []string{`"03", "+3", "-3", "0", "3.0", "99999999999999999999"`}, "0,0,0,0,0,0"},
		{"as many as allowed", []string{tags(precondition.MaxTags)}, strings.TrimSuffix(strings.Repeat("1,", precondition.MaxTags), ",")},
		{"too many", []string{tags(precondition.MaxTags + 1)}, ""},
		{"too many over lines", []string{tags(precondition.MaxTags), `"2"`}, ""},
		{"nothing", []string{""}, ""},
		{"commas alone", []string{",", " ,"}, ""},
		{"no quotes", []string{"3"}, ""},
		{"one quote", []string{`"3`}, ""},
		{"no comma", []string{`"3" "4"`}, ""},
		{"text after a tag", []string{`"3"x`}, ""},
		{"a space in a tag", []string{`"3 4"`}, ""},
		{"a small letter of a weak tag", []string{`w/"3"`}, ""},
		{"an asterisk and a tag", []string{`*, "3"`}, ""},
		{"a tag and an asterisk", []string{`"3"`, "*"}, ""},
		{"two asterisks", []string{"*", "*"}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, bad := precondition.Parse(test.lines)
			if test.want == "" {
				require.NotNil(t, bad)
				assert.Equal(t, http.StatusBadRequest, bad.Status)
				assert.Equal(t, fault.CodeValue, bad.Code)
				assert.False(t, c.Given())
				return
			}
			require.Nil(t, bad)
			assert.Equal(t, test.want, c.String())
			assert.Equal(t, test.want != "*", c.NamesVersions())
			read, err := precondition.Read(c.String())
			require.NoError(t, err)
			assert.Equal(t, c, read)
		})
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	c, err := precondition.Read("")
	require.NoError(t, err)
	assert.False(t, c.Given())
	for _, text := range []string{"x", "1,", "1, 2", "*,1"} {
		_, err := precondition.Read(text)
		assert.Error(t, err, text)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, condition string
		version         int64
		given           *int64
		status          int // 0 when it holds
	}{
		{"nothing is asked for", "", 3, nil, 0},
		{"nothing is asked for of nothing", "", 0, nil, 0},
		{"the version", "3", 3, nil, 0},
		{"one of the versions", "1,3", 3, nil, 0},
		{"another version", "1,2", 3, nil, http.StatusPreconditionFailed},
		{"no version of ours", "0", 3, nil, http.StatusPreconditionFailed},
		{"a version of nothing", "3", 0, nil, http.StatusPreconditionFailed},
		{"no version of ours, of nothing", "0", 0, nil, http.StatusPreconditionFailed},
		{"any", "*", 3, nil, 0},
		{"any of nothing", "*", 0, nil, http.StatusPreconditionFailed},
		{"the version in the body", "", 3, proto.Int64(3), 0},
		{"another version in the body", "", 3, proto.Int64(2), http.StatusConflict},
		{"If-Match goes before the body", "3", 3, proto.Int64(2), 0},
		{"any goes before the body", "*", 3, proto.Int64(2), 0},
		{"If-Match fails before the body", "2", 3, proto.Int64(3), http.StatusPreconditionFailed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := precondition.Read(test.condition)
			require.NoError(t, err)
			ctx := precondition.With(t.Context(), c)
			err = precondition.CheckGiven(ctx, "thing 7", test.version, test.given)
			if test.status == 0 {
				require.NoError(t, err)
			} else {
				faulttest.Require(t, err, fault.CodeStale, test.status)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, condition string
		given           *int64
		want            []int64
	}{
		{"none", "", nil, nil},
		{"that of the request", "", proto.Int64(2), []int64{2}},
		{"those of If-Match", "4,5", proto.Int64(2), []int64{4, 5}},
		{"any", "*", proto.Int64(2), nil},
		{"none of ours", "0", nil, []int64{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, err := precondition.Read(test.condition)
			require.NoError(t, err)
			assert.Equal(t, test.want, precondition.Versions(precondition.With(t.Context(), c), test.given))
		})
	}
}
