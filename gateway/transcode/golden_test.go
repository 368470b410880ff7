package transcode_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestResponsesLookAsTheyShould(t *testing.T) {
	t.Parallel()
	packed, err := anypb.New(&schedulingv1.Shift{Label: "x"})
	require.NoError(t, err)
	object, err := structpb.NewStruct(map[string]any{"a": []any{nil, 1.5, true, "x", map[string]any{}}})
	require.NoError(t, err)
	tests := []struct {
		name    string
		message proto.Message
		want    string
	}{
		{"64-bit integers are numbers", &commonv1.LimitDetail{Actual: math.MaxInt64, Maximum: -1}, `{"actual":9223372036854775807,"maximum":-1}`},
		{"absent rather than null", &commonv1.Ref{}, `{}`},
		{"a field with presence shows its zero", &schedulingv1.Shift{Id: proto.Int64(0), Open: proto.Bool(false)}, `{"id":0,"open":false}`},
		{"a name with a hyphen", &commonv1.ErrorDetails{ErrorOffsets: []int32{0, 2}}, `{"error-offsets":[0,2]}`},
		{"a name with underscores", &authv1.IssueTokenResponse{ExpiresIn: 1799}, `{"expires_in":1799}`},
		{"a bare array", &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{{Label: "a"}, {}}}, `[{"label":"a"},{}]`},
		{"an empty bare array", &schedulingv1.ShiftList{}, `[]`},
		{"bare arrays inside", &schedulingv1.Schedule{Shifts: &schedulingv1.ShiftList{}}, `{"shifts":[]}`},
		{"a failure is the whole response", &schedulingv1.ShiftList{Shifts: []*schedulingv1.Shift{{}}, Failure: &commonv1.ErrorBody{ErrorCode: "X"}}, `{"errorCode":"X"}`},
		{"an empty failure too", &schedulingv1.ShiftList{Failure: &commonv1.ErrorBody{}}, `{}`},
		{"an Any is bare", &commonv1.BulkResult{Success: packed}, `{"success":{"label":"x"}}`},
		{"an empty Any", &commonv1.BulkResult{Success: &anypb.Any{}}, `{"success":{}}`},
		{"a Struct is natural", &schedulingv1.ShiftSegment{OrgJobProperties: object}, `{"orgJobProperties":{"a":[null,1.5,true,"x",{}]}}`},
		{"nothing", &emptypb.Empty{}, `{}`},
		{"doubles", &schedulingv1.ScheduleRuleViolation{MeasuredValue: proto.Float64(1e21), Limit: proto.Float64(1e-7)}, `{"measuredValue":1e+21,"limit":1e-7}`},
		{"a whole double", &schedulingv1.ScheduleRuleViolation{Limit: proto.Float64(100)}, `{"limit":100}`},
		{"no escapes for HTML", &commonv1.Ref{Qualifier: proto.String("<a&b>\u2028\"\\\n\x01/ü")}, "{\"qualifier\":\"<a&b>\u2028\\\"\\\\\\n\\u0001/ü\"}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wire, err := proto.Marshal(test.message)
			require.NoError(t, err)
			got, err := transcode.For(test.message.ProtoReflect().Descriptor()).AppendJSON(nil, wire)
			require.NoError(t, err)
			assert.Equal(t, test.want, string(got))
		})
	}
}

func TestInvalidUTF8BecomesValidJSON(t *testing.T) {
	t.Parallel()
	wire := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), "a\xff\"\xc3")
	got, err := transcode.For((&commonv1.Ref{}).ProtoReflect().Descriptor()).AppendJSON(nil, wire)
	require.NoError(t, err)
	assert.Equal(t, "{\"qualifier\":\"a\uFFFD\\\"\uFFFD\"}", string(got))
}

func TestUnknownFieldsAreSkipped(t *testing.T) {
	t.Parallel()
	var wire []byte
	wire = protowire.AppendString(protowire.AppendTag(wire, 900, protowire.BytesType), "new")
	wire = protowire.AppendVarint(protowire.AppendTag(wire, 1, protowire.VarintType), 5)
	wire = protowire.AppendVarint(protowire.AppendTag(wire, 2, protowire.VarintType), 5) // of another type
	got, err := transcode.For((&commonv1.Ref{}).ProtoReflect().Descriptor()).AppendJSON(nil, wire)
	require.NoError(t, err)
	assert.Equal(t, `{"id":5}`, string(got))
}

func TestTheLastValueOnTheWireWins(t *testing.T) {
	t.Parallel()
	number := func(wire []byte, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(wire, 1, protowire.VarintType), v)
	}
	plan := transcode.For((&commonv1.LimitDetail{}).ProtoReflect().Descriptor())
	for want, wire := range map[string][]byte{
		`{"actual":6}`: number(number(nil, 5), 6),
		`{"actual":7}`: number(number(nil, 0), 7),
		`{}`:           number(number(nil, 5), 0),
	} {
		t.Run(want, func(t *testing.T) {
			got, err := plan.AppendJSON(nil, wire)
			require.NoError(t, err)
			assert.Equal(t, want, string(got))
		})
	}
}

func TestWireThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	deep := []byte{}
	for range 200 {
		deep = protowire.AppendBytes(protowire.AppendTag(nil, descriptorField(t, "kinds").Number(), protowire.BytesType), deep)
	}
	unknown, err := proto.Marshal(&commonv1.BulkResult{Success: &anypb.Any{TypeUrl: "x/rotaloom.Unknown"}})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		desc protoreflect.MessageDescriptor
		wire []byte
	}{
		"cut off":         {(&commonv1.Ref{}).ProtoReflect().Descriptor(), []byte{0x12, 5, 'a'}},
		"too deep":        {kindsFile().Messages().ByName("Kinds"), deep},
		"an unknown type": {(&commonv1.BulkResult{}).ProtoReflect().Descriptor(), unknown},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := transcode.For(test.desc).AppendJSON(nil, test.wire)
			assert.Error(t, err, name)
		})
	}
}

func descriptorField(t *testing.T, name protoreflect.Name) protoreflect.FieldDescriptor {
	t.Helper()
	return kindsFile().Messages().ByName("Kinds").Fields().ByName(name)
}

// TestRequestsAreReadLeniently compares the result for lenient JSON with protojson's result for strict JSON.
func TestRequestsAreReadLeniently(t *testing.T) {
	t.Parallel()
	kinds := kindsFile().Messages().ByName("Kinds")
	tests := []struct{ name, given, strict string }{
		{"a number as text", `{"aInt64":"123","aDouble":"1.5","aUint32":"007"}`, `{"aInt64":123,"aDouble":1.5,"aUint32":7}`},
		{"text as a number", `{"aString":20108,"listString":[1,-1.50]}`, `{"aString":"20108","listString":["1","-1.50"]}`},
		{"booleans as text", `{"aBool":"true","listBool":["false",true]}`, `{"aBool":true,"listBool":[false,true]}`},
		{"a fraction is cut", `{"aInt32":3.7,"listInt64":[-3.99,0.5,"-0.5",1e3,12345e-3,1.5E+2,0e999999999999]}`, `{"aInt32":3,"listInt64":[-3,0,0,1000,12,150,0]}`},
		{"the largest numbers", `{"aInt64":-9223372036854775808,"aUint64":18446744073709551615,"aInt32":"-2147483648.9"}`, `{"aInt64":"-9223372036854775808","aUint64":"18446744073709551615","aInt32":-2147483648}`},
		{"one value for a list", `{"listString":"a","listInt32":1,"listKinds":{"aBool":true}}`, `{"listString":["a"],"listInt32":[1],"listKinds":[{"aBool":true}]}`},
		{"proto names", `{"a_int64":1,"list_kinds":[{"a_bool":true}]}`, `{"aInt64":1,"listKinds":[{"aBool":true}]}`},
		{"null is absent", `{"aInt64":null,"kinds":null,"listInt32":null,"byText":{"a":null},"listKinds":[null,{}]}`, `{"listKinds":[{}]}`},
		{"null is a Value", `{"value":null,"struct":{"a":null},"values":[null]}`, `{"value":null,"struct":{"a":null},"values":[null]}`},
		{"enums", `{"color":"red","colors":["RED","Green",1,"-2",77]}`, `{"color":"RED","colors":["RED","GREEN",1,-2,77]}`},
		{"empty lists are absent", `{"listInt32":[],"listString":[],"byText":{}}`, `{}`},
		{"base64 of all kinds", `{"listBytes":["-_8=","+/8","-_8"]}`, `{"listBytes":["+/8=","+/8=","+/8="]}`},
		{"escapes", `{"aString":"\u00fc\ud83d\ude00\/\b\f\n\r\t\"\\"}`, `{"aString":"ü😀/\b\f\n\r\t\"\\"}`},
		{"escapes in names", `{"\u0061Bool":true}`, `{"aBool":true}`},
		{"white space", " {\t\"aInt64\" :\r\n 1 } ", `{"aInt64":1}`},
		{"long values", `{"kinds":{"aString":"` + strings.Repeat("x", 20000) + `","listInt32":[1]}}`, `{"kinds":{"aString":"` + strings.Repeat("x", 20000) + `","listInt32":[1]}}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := dynamicpb.NewMessage(kinds)
			require.NoError(t, protojson.Unmarshal([]byte(test.strict), want))
			requireSameMessage(t, want, []byte(test.given))
		})
	}
}

func TestBareArraysAreRead(t *testing.T) {
	t.Parallel()
	want := &schedulingv1.NewShifts{Shifts: []*schedulingv1.Shift{{Label: "a"}}}
	for _, given := range []string{`[{"label":"a"}]`, `{"label":"a"}`, `[null,{"label":"a"}]`} {
		t.Run(given, func(t *testing.T) {
			wire, err := transcode.For(want.ProtoReflect().Descriptor()).AppendWire(nil, []byte(given))
			require.NoError(t, err, given)
			var got schedulingv1.NewShifts
			require.NoError(t, proto.Unmarshal(wire, &got))
			assert.True(t, proto.Equal(want, &got), given)
		})
	}
}

func TestRequestsAreRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"kinds":`, 100) + `{}` + strings.Repeat(`}`, 100)
	tests := []struct{ name, given, code, message string }{
		{"an unknown property", `{"kinds":{"listKinds":[{},{"foo":1}]}}`, fault.CodeUnknownProperty, `"kinds.listKinds[1].foo" is not a known property.`},
		{"an unknown property in one value for a list", `{"listKinds":{"foo":1}}`, fault.CodeUnknownProperty, `"listKinds.foo" is not`},
		{"a long unknown property", `{"` + strings.Repeat("x", 500) + `":1}`, fault.CodeUnknownProperty, strings.Repeat("x", 80) + `..." is not`},
		{"an object for a scalar", `{"aInt64":{}}`, fault.CodeStructure, `"aInt64" is an object, but a single value is expected.`},
		{"an object for a text", `{"aString":{}}`, fault.CodeStructure, `"aString" is an object`},
		{"a list for a scalar", `{"aInt64":[1]}`, fault.CodeStructure, `"aInt64" is a list, but a single value is expected.`},
		{"a list for an object", `{"kinds":[]}`, fault.CodeStructure, `"kinds" is a list, but an object is expected.`},
		{"a list for a map", `{"byText":[]}`, fault.CodeStructure, `"byText" is a list`},
		{"a list in a list", `{"listInt32":[1,[2]]}`, fault.CodeStructure, `"listInt32[1]" is a list`},
		{"a scalar for an object", `{"kinds":7}`, fault.CodeStructure, `"kinds" is a single value, but an object is expected.`},
		{"a list for the whole", `[]`, fault.CodeStructure, `The body is a list, but an object is expected.`},
		{"an Any", `{"any":{}}`, fault.CodeStructure, `"any" cannot be sent`},
		{"too deep", deep, fault.CodeStructure, "more than 64 levels"},
		{"a wrong number", `{"listInt64":[1,"x"]}`, fault.CodeValue, `"listInt64[1]" is "x", but a number is expected.`},
		{"no number", `{"aDouble":""}`, fault.CodeValue, `"aDouble" is "", but a number is expected.`},
		{"a boolean for a number", `{"aInt64":true}`, fault.CodeValue, `"aInt64" is true`},
		{"a boolean for a text", `{"aString":false}`, fault.CodeValue, `"aString" is false, but a text is expected.`},
		{"a number for a boolean", `{"aBool":1}`, fault.CodeValue, `"aBool" is a number, but true or false is expected.`},
		{"a wrong boolean", `{"aBool":"True"}`, fault.CodeValue, `"aBool" is "True"`},
		{"an unknown enum value", `{"color":"BLUE"}`, fault.CodeValue, `"color" is "BLUE", but one of its names is expected.`},
		{"a null in a list of scalars", `{"listInt64":[1,null]}`, fault.CodeValue, `"listInt64[1]" is null.`},
		{"a null in a list of texts", `{"listString":[null]}`, fault.CodeValue, `"listString[0]" is null`},
		{"an overflow", `{"aInt32":2147483648}`, fault.CodeValue, `"aInt32" is 2147483648, which is out of range.`},
		{"a negative unsigned", `{"aUint32":-1}`, fault.CodeValue, "out of range"},
		{"a huge exponent", `{"aInt64":1e999999999999}`, fault.CodeValue, "out of range"},
		{"a huge double", `{"aDouble":1e999}`, fault.CodeValue, "out of range"},
		{"infinity", `{"aDouble":"Infinity"}`, fault.CodeValue, "number is expected"},
		{"a wrong key of a map", `{"byNumber":{"x":{}}}`, fault.CodeValue, `"byNumber.x" is "x"`},
		{"nothing", ``, fault.CodeValue, "at byte 0"},
		{"only space", "  ", fault.CodeValue, "empty"},
		{"trailing data", `{} {}`, fault.CodeValue, "at byte 3: the document must end here."},
		{"cut off", `{"aInt64":`, fault.CodeValue, "at byte 10"},
		{"a trailing comma", `{"aInt64":1,}`, fault.CodeValue, "at byte 12"},
		{"a comma in a list", `{"listInt32":[1,]}`, fault.CodeValue, "at byte 16"},
		{"a leading zero", `{"aInt64":01}`, fault.CodeValue, "at byte 11"},
		{"a bare point", `{"aDouble":1.}`, fault.CodeValue, "digit"},
		{"a comment", `{/**/}`, fault.CodeValue, "at byte 1"},
		{"no quotes", `{aInt64:1}`, fault.CodeValue, "at byte 1"},
		{"a control character", "{\"aString\":\"\n\"}", fault.CodeValue, "at byte 12"},
		{"an invalid escape", `{"aString":"\x"}`, fault.CodeValue, "at byte 12"},
		{"half a surrogate", `{"aString":"\ud83d"}`, fault.CodeValue, "surrogate"},
		{"U+0000", `{"aString":"\u0000"}`, fault.CodeValue, "U+0000"},
		{"no UTF-8", "{\"aString\":\"\xff\"}", fault.CodeValue, "UTF-8"},
		{"a wrong word", `{"aBool":trueish}`, fault.CodeValue, "at byte 13"},
		{"a word", `nul`, fault.CodeStructure, "object"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := transcode.For(kindsFile().Messages().ByName("Kinds")).AppendWire(nil, []byte(test.given))
			var f *fault.Error
			require.ErrorAs(t, err, &f)
			assert.Equal(t, test.code, f.Code, f.Message)
			assert.Equal(t, 400, f.Status)
			assert.Contains(t, f.Message, test.message)
			assert.Less(t, len(f.Message), 500)
		})
	}
}

func TestTheAPIsOwnExampleIsRead(t *testing.T) {
	t.Parallel()
	const example = `{"options":{"detailedPartialSuccess":true},
	 "groupSchedulePatterns":{"do":{"groupSchedulePatternCreates":[
	  {"override":true,"groupSchedulePattern":{
	     "groupRef":{"qualifier":"Warehouse 38h"},"startDate":"2025-03-03","endDate":null,"startDateOffset":0,
	     "schedulePattern":{"name":"Early week","dayCount":7,"timePeriodType":{"name":"Weekly"},
	       "items":[{"day":1,"shiftTemplate":{"name":"Early 06-14"}}]}}}]}}}`
	plan := transcode.For((&schedulingv1.ApplyCreateGroupSchedulePatterns{}).ProtoReflect().Descriptor())
	wire, err := plan.AppendWire(nil, []byte(example))
	require.NoError(t, err)
	var got schedulingv1.ApplyCreateGroupSchedulePatterns
	require.NoError(t, proto.Unmarshal(wire, &got))
	create := got.GetGroupSchedulePatterns().GetDo().GetGroupSchedulePatternCreates()[0]
	assert.True(t, create.GetOverride())
	assert.Equal(t, "Early 06-14", create.GetGroupSchedulePattern().GetSchedulePattern().GetItems()[0].GetShiftTemplate().GetName())

	_, err = plan.AppendWire(nil, []byte(`{"groupSchedulePatterns":{"do":{"groupSchedulePatternCreates":[{"foo":1}]}}}`))
	assert.ErrorContains(t, err, "groupSchedulePatterns.do.groupSchedulePatternCreates[0].foo")
}

func TestForms(t *testing.T) {
	t.Parallel()
	plan := transcode.For(kindsFile().Messages().ByName("Kinds"))
	wire, err := plan.AppendForm(nil, []byte("aString=a+b%26c&a_int64=7&unknown=1&aBool=&aBytes=%2B%2F8&color=red"))
	require.NoError(t, err)
	text, err := plan.AppendJSON(nil, wire)
	require.NoError(t, err)
	assert.Equal(t, decode(t, []byte(`{"aString":"a b&c","aInt64":7,"aBytes":"+/8=","color":"RED"}`)), decode(t, text))
	require.True(t, json.Valid(text))

	for name, form := range map[string]string{
		"a field twice":       "aString=a&aString=a",
		"under another name":  "aString=a&a_string=b",
		"twice and empty":     "aString=&aString=b",
		"an invalid escape":   "aString=%zz",
		"a wrong name":        "%zz=1",
		"a wrong number":      "aInt64=x",
		"a list":              "listInt32=1",
		"an object":           "kinds=1",
		"no UTF-8":            "aString=%ff",
		"U+0000":              "aString=%00",
		"very many fields":    strings.Repeat("x=1&", 101),
		"bytes of no base64 ": "aBytes=%21",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plan.AppendForm(nil, []byte(form))
			var f *fault.Error
			require.ErrorAs(t, err, &f, name)
			assert.Equal(t, 400, f.Status, name)
			assert.Equal(t, "invalid_request", f.OAuth, name)
		})
	}
}
