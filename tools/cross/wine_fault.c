/* wine_fault.c - shows a fault of Wine's, without heed: a directory is renamed while it is open,
 * and then a file in it is removed through the open directory. Windows removes the file. Wine
 * reports success and keeps it, because it goes on to use the directory's old path. Prints "kept"
 * or "removed". */
#include <stdio.h>
#include <windows.h>
#include <winternl.h>

int main(void)
{
    CreateDirectoryW(L"wine_fault", NULL);
    CloseHandle(CreateFileW(L"wine_fault\\f", GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL));
    HANDLE f, directory = CreateFileW(L"wine_fault", GENERIC_READ, 7, NULL, OPEN_EXISTING,
                                      FILE_FLAG_BACKUP_SEMANTICS, NULL);
    MoveFileExW(L"wine_fault", L"wine_moved", 0);

    UNICODE_STRING name = {2, 2, L"f"};
    OBJECT_ATTRIBUTES object = {
        .Length = sizeof object, .RootDirectory = directory, .ObjectName = &name};
    IO_STATUS_BLOCK done;
    NTSTATUS opened = NtCreateFile(&f, DELETE | SYNCHRONIZE, &object, &done, NULL, 0, 7, FILE_OPEN,
                                   FILE_SYNCHRONOUS_IO_NONALERT, NULL, 0);
    BOOLEAN remove = TRUE;
    NTSTATUS removed = opened < 0 ? opened : NtSetInformationFile(f, &done, &remove, 1, 13);
    CloseHandle(f);
    CloseHandle(directory);
    BOOL kept = GetFileAttributesW(L"wine_moved\\f") != INVALID_FILE_ATTRIBUTES;
    printf("%s (status %lx)\n", kept ? "kept" : "removed", (unsigned long)removed);
    DeleteFileW(L"wine_moved\\f");
    RemoveDirectoryW(L"wine_moved");
    return 0;
}
