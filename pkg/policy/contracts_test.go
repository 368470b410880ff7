package policy_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/policy"
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
