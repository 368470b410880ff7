package openapi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1" // the contracts use its options
	"github.com/rotaloom/rotaloom/proto/internal/openapi"
)

// contracts returns the contracts with their comments, as buf compiles them.
func contracts(b *testing.B, root string) []byte {
	b.Helper()
	out := filepath.Join(b.TempDir(), "contracts.binpb")
	c := exec.CommandContext(b.Context(), "go", "-C", filepath.Join(root, "tools", "buf"), "tool", "buf", "build", filepath.Join(root, "proto", "api"), "-o", out)
	c.Env = append(os.Environ(), "GOWORK=off")
	printed, err := c.CombinedOutput()
	require.NoError(b, err, "%s", printed)
	data, err := os.ReadFile(out)
	require.NoError(b, err)
	return data
}

// processorTime returns the processor time of the process, which other load on the machine changes
// little.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkGenerate makes the API description, from the compiled contracts and their cases
// to both documents.
func BenchmarkGenerate(b *testing.B) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(b, err)
	data := contracts(b, root)
	set := &descriptorpb.FileDescriptorSet{}
	require.NoError(b, proto.Unmarshal(data, set))
	request := &pluginpb.CodeGeneratorRequest{ProtoFile: set.GetFile()}
	for _, file := range set.GetFile() {
		if file.GetOptions().GetGoPackage() == "" {
			if file.Options == nil {
				file.Options = &descriptorpb.FileOptions{}
			}
			file.Options.GoPackage = proto.String("example.com/" + filepath.Dir(file.GetName()))
		}
		request.FileToGenerate = append(request.FileToGenerate, file.GetName())
	}
	cases := os.DirFS(filepath.Join(root, "tests", "contract", "cases"))
	examples := os.DirFS(filepath.Join(root, "tests", "examples", "requests"))
	before := processorTime(b)
	for b.Loop() {
		plugin, err := protogen.Options{}.New(request)
		require.NoError(b, err)
		document, err := openapi.Generate(plugin.Files, cases, examples)
		require.NoError(b, err)
		json, err := document.JSON()
		require.NoError(b, err)
		yaml, err := document.YAML()
		require.NoError(b, err)
		require.NotEmpty(b, json)
		require.NotEmpty(b, yaml)
	}
	b.ReportMetric((processorTime(b)-before).Seconds()/float64(b.N), "processor-s")
}
