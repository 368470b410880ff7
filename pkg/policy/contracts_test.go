package policy_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // Links all of them.
)

// The real contracts keep their own rules. A new domain is added to
// proto/contracts; the first test fails until it is.
func TestEveryContractIsAudited(t *testing.T) {
	t.Parallel()
	const root = "../../proto/gen/"
	files, err := filepath.Glob(root + "rotaloom/*/v1/*.pb.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.HasSuffix(file, "_grpc.pb.go") {
			continue
		}
		path := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), root), ".pb.go") + ".proto"
		_, err := protoregistry.GlobalFiles.FindFileByPath(path)
		assert.NoError(t, err, path)
	}
}

func TestContractsHaveNoProblems(t *testing.T) {
	t.Parallel()
	assert.Empty(t, policy.Audit(nil))
}

// The recruiting operations have property names in snake_case, like their reference. Each field says
// so with json_name, because every tool reads that. A field whose name has one word needs none.
func TestRecruitingHasSnakeCase(t *testing.T) {
	t.Parallel()
	protoregistry.GlobalFiles.RangeFilesByPackage("rotaloom.recruiting.v1", func(file protoreflect.FileDescriptor) bool {
		assert.Empty(t, otherNames(file.Messages()), "these fields need json_name = \"<name of the field>\"")
		return true
	})
	one := policytest.Files(t, `name: "names.proto" package: "rotaloom.policytest.v1" syntax: "proto3"
message_type { name: "A" nested_type { name: "B"
  field { name: "head_count" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "headCount" }
  field { name: "job_code" number: 2 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "job_code" } } }`)
	file, err := one.FindFileByPath("names.proto")
	require.NoError(t, err)
	assert.Equal(t, []string{"rotaloom.policytest.v1.A.B.head_count"}, otherNames(file.Messages()))
}

// otherNames returns the fields with another name in JSON than in the contract.
func otherNames(messages protoreflect.MessageDescriptors) (found []string) {
	for i := range messages.Len() {
		for k := range messages.Get(i).Fields().Len() {
			if f := messages.Get(i).Fields().Get(k); f.JSONName() != string(f.Name()) {
				found = append(found, string(f.FullName()))
			}
		}
		found = append(found, otherNames(messages.Get(i).Messages())...)
	}
	return found
}
