package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// The collection in docs has the examples. With -update, it is written again.
func TestTheCollectionHasTheExamples(t *testing.T) {
	t.Parallel()
	files, err := Read("requests")
	require.NoError(t, err)
	folder := filepath.Join(launch.Root(t), "docs", "collection")
	want := map[string]string{}
	for _, f := range files {
		text, err := f.Collection()
		require.NoError(t, err)
		if text != "" {
			want[strings.TrimSuffix(f.Name(), ".yaml")+".http"] = text
		}
	}
	if *update {
		for name, text := range want {
			path := filepath.Join(folder, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
	got := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".http" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, path))
		got[path] = string(text)
		return err
	}))
	assert.Equal(t, want, got, "make generate writes the collection; delete files without examples")
}

// A request refers to the requests whose ids it sends.
func TestCollectedRequestsReferToEarlierOnes(t *testing.T) {
	t.Parallel()
	const guid = "11111111-2222-3333-4444-555555555555"
	f := &File{Path: "requests/commons/thing.yaml", Examples: []Example{
		{Do: "POST /v1/things", Title: "Create a thing", JSON: map[string]any{"name": "A < B"}, Status: 200, Response: map[string]any{"other": []any{guid}, "id": guid}},
		{Do: "GET /v1/things/" + guid, Title: "Read a thing", As: "manager.zurich", Status: 200},
		{Do: "DELETE /v1/things", Title: "Not sent", Unsent: "It has no example", Status: 204},
	}}
	text, err := f.Collection()
	require.NoError(t, err)
	assert.Contains(t, text, "# @name request0\n# @ref login_admin\nPOST {{host}}/v1/things\n")
	assert.Contains(t, text, "\n{\n  \"name\": \"A < B\"\n}\n\n?? status == 200\n")
	assert.Contains(t, text, "### Read a thing\n# @ref login_manager_zurich\n# @ref request0\nGET {{host}}/v1/things/{{request0.id}}\nAuthorization: Bearer {{login_manager_zurich.access_token}}\n")
	assert.NotContains(t, text, "Not sent")
}
